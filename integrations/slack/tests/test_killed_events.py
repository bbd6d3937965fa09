"""A process is killed at any statement or request of an event: Slack sends it again, and it counts once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest
from django.db import transaction

from incidents.models import Event, Incident, Participant
from integrations.slack.fake.acts import Acts
from integrations.slack.tests.conftest import Built, behind
from integrations.tests import once
from integrations.tests.mortal import Process, mortal
from stack.short_runs import WalkPart
from workflows.models import Effect, Resource

Act = Callable[[Acts, str], object]
ACTS: Final[dict[str, Act]] = {
    "a member leaves": lambda acts, name: acts.leave("ben", name),
    "the one who declared leaves": lambda acts, name: acts.leave("ann", name),
    "a member is removed": lambda acts, name: acts.kick("ann", name, "ben"),
    "someone is invited": lambda acts, name: acts.invite("ann", name, ["out"]),
    "the channel is archived": lambda acts, name: acts.archive("ann", name),
    "the channel is renamed": lambda acts, name: acts.rename("ann", name, "another-name"),
    "a message is pushed to the timeline": lambda acts, name: acts.react(
        "ben", name, acts.say("ben", name, "It is the cache"), "pushpin"
    ),
    "someone is deactivated": lambda acts, _: acts.deactivate("ben"),
    "someone arrives": lambda acts, _: acts.arrive("newcomer"),
    "a group changes": lambda acts, _: acts.set_group("support", ["out"]),
    "the home tab is opened": lambda acts, _: acts.open_home("ann"),
}


def _outcome(built: Built, act: str, *, process: Process) -> dict[str, Any]:
    """Deliver the last event of an act to a process that may die, and return what is known once all is settled."""
    made = once.copied(built)
    with transaction.atomic(), behind(made.door.house), pytest.MonkeyPatch.context() as patch:
        door, slack = made.door, made.door.slack
        incident = Incident.objects.get()
        slack.take_deliveries()
        ACTS[act](slack.acts, door.house.channel(incident))
        *before, last = slack.take_deliveries()
        for one in before:
            door.post(one)
        with mortal(patch, process):
            door.post(last)
        if process.is_dead:
            door.late = ()
            door.post(last)
        incident = door.house.settle(incident)
        channel = slack.channel(door.house.channel(incident))
        found = {
            "timeline": list(Event.objects.order_by("n").values_list("kind", "text")),
            "inside": sorted(Participant.objects.filter(left_at=None).values_list("person__name", flat=True)),
            "lead": incident.lead_id,
            "things": sorted(Resource.objects.values_list("key", "state")),
            "steps": sorted(Effect.objects.values_list("key", "state")),
            "channel": (sorted(channel.members), channel.topic.value, channel.is_archived, len(channel.messages)),
        }
        transaction.set_rollback(True)
    return found


@pytest.mark.usefixtures("incident", "db")
@pytest.mark.parametrize("act", ACTS)
def test_an_event_counts_once(built: Built, act: str, part: WalkPart) -> None:
    lived = Process()
    expected = _outcome(built, act, process=lived)
    for dies_at in part.of(range(1, lived.moments + 1)):
        killed = Process(dies_at)
        assert _outcome(built, act, process=killed) == expected, killed.died

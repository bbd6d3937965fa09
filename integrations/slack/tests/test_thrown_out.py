"""The app is removed from a public channel and returns: what it could not post meanwhile is posted, once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from itertools import permutations, product
from typing import Final

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident
from integrations.slack.fake import BOT_USER, PendingDelivery
from integrations.slack.interaction import plans
from integrations.slack.tests.door import Door
from workflows.channels import membership, room_looks, rooms
from workflows.models import Effect, Resource
from workflows.planning.observed import GONE, OUTSIDE
from workflows.reconcile import reconcile, retyping
from workflows.status import progress


def meanwhile(door: Door, incident: Incident, what: str) -> None:
    """Do one thing that is posted in the channel."""
    ann, now = door.house.person("ann"), timezone.now()
    if what == "update":
        lifecycle.update(incident, text="we look", by=ann, at=now)
    elif what == "lead":
        lifecycle.set_lead(incident, lead=ann, by=ann, at=now)
    elif what == "impact":
        lifecycle.state_impact(incident, text="one in ten fails", by=ann, at=now)
    elif what == "retype":
        door.house.retype(incident, "major", by="ann")
    elif what == "private":
        door.house.retype(incident, "security", by="ann")
    else:
        lifecycle.resolve(incident, by=ann, at=now)


def is_said_once(door: Door, incident: Incident, channel: str) -> None:
    """Check that nothing is left to plan, and that the channel has none of our messages twice."""
    assert not reconcile.reconcile(incident.pk, at=timezone.now()).actions
    marks = Counter(json.dumps(one.metadata) for one in door.slack.messages(channel) if one.metadata)
    assert set(marks.values()) == {1}


@pytest.mark.parametrize(
    ("what", "heard"),
    [
        *((what, True) for what in ("update", "lead", "impact", "retype", "private", "resolve")),
        *((what, False) for what in ("update", "lead", "impact", "retype")),  # people still respond there
    ],
)
@pytest.mark.parametrize("type", ["ambiguous", "isolated"])
def test_what_was_refused_follows_once_the_app_is_invited_back(door: Door, type: str, what: str, heard: bool) -> None:
    """Even without events: the members of public incidents' channels are read in rotation."""
    incident = door.declared(type=type)
    name = door.house.channel(incident)
    door.slack.acts.kick("ann", name, "firekind")
    door.deliver()
    meanwhile(door, incident, what)
    incident = door.house.settle(incident)
    failed = Effect.objects.filter(incident=incident, state="failed")
    assert failed.exists(), "it is said that it could not be said"

    door.slack.acts.invite("ann", name, ["firekind"])
    if heard:
        door.deliver()
    else:
        door.slack.take_deliveries()
        membership.poll_public(at=timezone.now())
    incident = door.house.settle(incident)
    assert not failed.exists()
    is_said_once(door, incident, name)
    posted = Effect.objects.filter(incident=incident, thing__startswith="told/", room=incident.room, state="done")
    assert posted.count() >= 1


def refused(door: Door, incident: Incident, channel_id: str) -> None:
    door.slack.take_deliveries()
    meanwhile(door, incident, "update")
    door.house.settle(incident)


KNOWN_BY: Final[dict[str, Callable[[Door, Incident, str], object]]] = {
    "an event": lambda door, incident, channel_id: door.deliver(),
    "a refusal": refused,
    "a look": lambda door, incident, channel_id: room_looks.look(door.house.chat, channel_id, at=timezone.now()),
}


@pytest.mark.parametrize("known_by", KNOWN_BY)
@pytest.mark.parametrize("to", ["major", "internal", "security"])
def test_a_plan_says_that_the_app_is_not_in_the_channel_before_anyone_counts_on_it(
    door: Door, to: str, known_by: str
) -> None:
    incident = door.declared()
    name = door.house.channel(incident)
    door.slack.acts.kick("ann", name, "firekind")
    KNOWN_BY[known_by](door, incident, door.slack.channel(name).id)
    incident = door.house.settle(incident)
    plan = retyping.preview(incident, to=door.house.type(to), by=door.house.person("ann"))
    said = [line.text for line in plan.lines if line.sign == "!" and f"no longer in #{name}" in line.text]
    assert [text for text in said if "/invite" in text] == said != []
    assert f"`!`  {said[0]}" in str(plans.shown(plan))
    assert to == "security" or said[0] in [line.text for line in plan.without_names().lines], "a guest reads it as well"
    assert not [note.text for note in plan.notes if "the channel is archived" in note.text]
    assert [gap.says for gap in progress.of(incident).gaps if f"no longer in #{name}" in gap.says]
    door.slack.acts.invite("ann", name, ["firekind"])
    door.deliver()
    incident = door.house.settle(incident)
    assert not [gap.says for gap in progress.of(incident).gaps if "no longer in" in gap.says]
    calls = len(door.slack.calls)
    plan = retyping.preview(incident, to=door.house.type(to), by=door.house.person("ann"))
    assert not [line for line in plan.lines if "no longer in" in line.text]
    assert len(door.slack.calls) == calls


def test_a_plan_makes_another_channel_where_the_app_was_removed_from_a_private_one(door: Door) -> None:
    """Slack shows an app no private channel that it is not in."""
    incident = door.declared("keys", type="security")
    name = door.house.channel(incident)
    door.slack.acts.kick("ann", name, "firekind")
    door.deliver()
    incident = door.house.settle(incident)
    plan = retyping.preview(incident, to=door.house.type("isolated"), by=door.house.person("ann"))
    assert "~ move the conversation to a new private channel" in [str(line) for line in plan.lines]
    door.slack.calls.clear()
    incident = door.house.retype(incident, "isolated", by="ann")
    assert [call.method for call in door.slack.calls if call.writes and not call.ok] == []
    assert door.house.channel(incident) != name


@pytest.mark.parametrize("tells", ["the app", "a person"])
def test_the_app_knows_its_own_acts_whoever_slack_says_an_event_is_for(door: Door, tells: str) -> None:
    """An app that a person also gave a token may get events on behalf of that person."""
    incident = door.declared("keys")
    door.command("ann", "type security", channel=door.house.channel(incident))
    door.submit("ann")
    incident = door.house.settle(incident)
    before = incident.events.count()
    for told in door.slack.take_deliveries():
        if tells == "a person":
            told.payload["authorizations"][0] |= {"user_id": door.slack.person("ann").id, "is_bot": False}
        door.post(told)
    assert incident.events.count() == before


def comings_and_goings(door: Door, name: str, kinds: str) -> list[list[PendingDelivery]]:
    """Remove the app and invite it back this many times; return Slack's events about each."""
    told = []
    for kind in kinds:
        if kind == "-":
            door.slack.acts.kick("ann", name, "firekind")
        else:
            door.slack.acts.invite("ann", name, ["firekind"])
        told.append(door.slack.take_deliveries())
    return told


def is_said_to_be_out(incident: Incident) -> bool:
    channel = Resource.objects.get(incident=incident, key=f"channel/{incident.room}")
    return channel.state == GONE or channel.external.get("why") == OUTSIDE


@pytest.mark.parametrize("type", ["ambiguous", "security"])
@pytest.mark.parametrize(
    ("kinds", "order"),
    [(kinds, order) for kinds in ("-", "-+", "-+-") for order in permutations(range(len(kinds)))],
)
def test_in_whatever_order_it_hears_of_its_own_comings_and_goings_it_knows_where_it_is(
    door: Door, type: str, kinds: str, order: tuple[int, ...]
) -> None:
    incident = door.declared(type=type)
    told = comings_and_goings(door, door.house.channel(incident), kinds)
    for n, _ in product(order, range(2)):
        for delivery in told[n]:
            assert door.post(delivery).status_code == 200
    assert is_said_to_be_out(incident) == (kinds[-1] == "-")


@pytest.mark.parametrize("heard", ["first", "last"])
def test_a_channel_that_was_archived_is_not_said_to_have_thrown_the_app_out(door: Door, heard: str) -> None:
    """Slack removes apps from archived channels, and tells them so."""
    incident = door.declared()
    channel = door.slack.channel(door.house.channel(incident))
    door.slack.acts.archive("ann", channel.name)
    archived = [one for one in door.slack.take_deliveries() if one.type == "channel_archive"]
    assert BOT_USER not in channel.members
    door.slack.emit("channel_left", channel=channel.id)
    left = door.slack.take_deliveries()
    for delivery in left + archived if heard == "first" else archived + left:
        assert door.post(delivery).status_code == 200
    assert not is_said_to_be_out(incident)
    assert [text for _, text in door.told(incident) if "archived" in text] == [f"archived #{channel.name} in Slack"]


def test_a_look_that_fails_is_left_to_the_next_one(door: Door) -> None:
    incident = door.declared()
    name = door.house.channel(incident)
    door.slack.acts.kick("ann", name, "firekind")
    door.slack.faults.add("server_error", method="conversations.info", times=1)
    assert set(door.deliver()) == {200}
    assert not is_said_to_be_out(incident)
    room_looks.look(door.house.chat, door.slack.channel(name).id, at=timezone.now())
    assert is_said_to_be_out(incident)


def test_being_invited_back_asks_nothing_of_an_incident_where_nothing_was_refused(door: Door) -> None:
    incident = door.declared()
    name = door.house.channel(incident)
    door.slack.acts.kick("ann", name, "firekind")
    door.slack.acts.invite("ann", name, ["firekind"])
    before = len(door.house.writes())
    door.deliver()
    door.house.settle(incident)
    assert len(door.house.writes()) == before


def test_the_incident_is_held_before_its_effects_are_tried_again(door: Door) -> None:
    """A plan writes to the timeline first and then cancels effects, so this has to lock in the same order."""
    incident = door.declared()
    Effect.objects.filter(incident=incident, kind="post", room=1).update(state="failed", error_code="not_in_channel")
    channel = door.slack.channel(door.house.channel(incident)).id
    with CaptureQueriesContext(connection) as asked:
        rooms.in_sight(channel, at=timezone.now())
    said = [query["sql"] for query in asked]
    held = next(n for n, sql in enumerate(said) if "FOR NO KEY UPDATE" in sql)
    assert held < next(n for n, sql in enumerate(said) if sql.startswith('UPDATE "workflows_effect"'))

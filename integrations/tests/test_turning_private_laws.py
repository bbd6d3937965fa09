"""Laws of a retype to a private type, for drills and incidents: anyone is in, agrees to drills or comes along."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any, Final

import pytest

from incidents import lifecycle, visibility
from incidents.models import Incident, Person
from integrations.slack.adapter.client import SlackChat
from integrations.slack.tests.straight import StraightWire
from integrations.tests import house as building
from integrations.tests.house import House
from workflows import ports
from workflows.models import Effect
from workflows.reconcile import reconcile, retyping
from workflows.usergroups import workspace_cache

HANDLES = tuple(sorted({"dee", "out"}.union(*building.GROUPS.values())))


@pytest.fixture
def house(db: None) -> Iterator[House]:
    """A house that can make a room itself private."""
    with building.house() as made:
        made.slack.workspace.plan = "enterprise"
        made.slack.add_person("owner", name="Owner", email="owner@example.com").is_owner = True
        admin = StraightWire(made.slack, token="xoxp-sandbox")
        chat = SlackChat(made.chat.wire, identity=made.chat.identity, admin=admin)
        with ports.using(chat=chat):
            yield House(made.slack, chat, made.clock)


@pytest.mark.parametrize("is_drill", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_who_the_plan_says_comes_in_and_loses_access_does_and_nobody_else(
    house: House, seed: int, is_drill: bool
) -> None:
    chance = random.Random(seed)
    incident = lived_through(house, chance, is_drill=is_drill)
    bring = [house.person(one) for one in chance.sample(HANDLES, chance.choice([0, 1, 4]))]
    bring = [one for one in bring if one.agrees_to_drills or not is_drill]
    by = chance.choice(HANDLES)
    before = inside(house, incident)
    plan = retyping.preview(incident, to=house.type("security"), by=house.person(by), bring=bring)
    said = [str(line) for line in plan.lines]
    after = house.retype(incident, "security", by=by, bring=[one.name.lower() for one in bring])
    now = inside(house, after)
    assert now == {one for one in HANDLES if visibility.may_see(house.person(one), after)}
    assert named(said, "- end access for ") == before - now
    stays_put = any(line.startswith("~ make #") for line in said)
    assert stays_put == (after.room == 1)
    invited = named(said, "+ invite ")
    if stays_put:
        assert invited == now - before
        assert before <= now
    else:
        assert now - before <= invited <= now


def lived_through(house: House, chance: random.Random, *, is_drill: bool) -> Incident:
    """Declare with arbitrary groups, let people join by hand, then let some stop agreeing to drills."""
    for group in ("security", "incident-response"):
        house.slack.acts.set_group(group, chance.sample(HANDLES, 3))
    workspace_cache.refresh()
    Person.objects.update(agrees_to_drills=True)
    type_ = house.type(chance.choice(["ambiguous", "internal", "major", "isolated"]))
    declared = lifecycle.declare("Keys", by=house.person("dee"), at=house.now(), type=type_, is_drill=is_drill)
    incident = house.settle(declared)
    room = house.channel(incident)
    for one in sorted(set(chance.sample(HANDLES, 2)) - set(house.slack.members(room))):
        house.slack.acts.join(one, room)
        lifecycle.joined(incident, person=house.person(one), room=1, inviter=None, at=house.now())
    house.slack.take_deliveries()
    if chance.random() < 0.7:  # otherwise hardly anyone's room is kept
        house.slack.acts.set_group("security", sorted(inside(house, incident) - {"dee"}) or ["sam"])
        workspace_cache.refresh()
    for one in chance.sample(HANDLES, 3):
        Person.objects.filter(pk=house.person(one).pk).update(agrees_to_drills=False)
    return house.settle(incident)


def inside(house: House, incident: Incident) -> set[str]:
    return set(HANDLES) & set(house.slack.members(house.channel(incident)))


def named(said: list[str], verb: str) -> set[str]:
    """Return the people that the plan names after a verb, without the reasons in brackets."""
    found = [re.sub(r" \(.*?\)", "", line.removeprefix(verb)) for line in said if line.startswith(verb)]
    return {one.lower() for line in found for one in line.split(", ")}


STOPPED: Final[dict[str, dict[str, Any]]] = {
    "before the call": {},
    "by an error": {"state": "failed", "attempt": 5, "error": "internal_error"},
    "without an answer": {"unsure": True, "attempt": 1},
}


@pytest.mark.parametrize("stopped", STOPPED)
def test_what_was_still_to_be_said_waits_until_the_room_is_private(house: House, stopped: str) -> None:
    """It was owed when the room was to stay public; it may have been tried, with an unknown outcome."""
    incident = house.declare("Keys")
    house.slack.acts.set_group("security", sorted(inside(house, incident) - {"dee"}))
    workspace_cache.refresh()
    lifecycle.update(incident, by=house.person("dee"), at=house.now(), text="The keys are in the log")
    reconcile.reconcile(incident.pk, at=house.now())
    Effect.objects.filter(incident=incident, state="waiting").update(**STOPPED[stopped])
    plan = retyping.preview(incident, to=house.type("security"), by=house.person("dee"))
    before = len(house.writes())
    retyping.confirm(incident, to=house.type("security"), by=house.person("dee"), at=house.now(), digest=plan.digest)
    reconcile.reconcile(incident.pk, at=house.now())
    waiting = Effect.objects.filter(incident=incident, room=1, state__in=["waiting", "failed"], abandoned=False)
    early = [one.key for one in waiting.exclude(kind="closed") if "closed/1" not in one.needs]
    assert early == [], "any of them may be performed before the rest"
    settled = house.settle(incident)
    assert settled.room == 1, "it is the same room"
    done = house.writes()[before:]
    closed = done.index("admin.conversations.convertToPrivate")
    assert "chat.postMessage" not in done[:closed]
    told = [
        text
        for text in house.slack.texts(house.channel(settled))
        if text == "Update from Dee · The keys are in the log"
    ]
    assert len(told) == 1, "it is said all the same, and once"

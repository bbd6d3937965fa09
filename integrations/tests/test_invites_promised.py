"""A plan's invitations happen in any state of the workspace; it names who cannot be invited, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import pytest

from incidents import lifecycle
from incidents.models import Incident, Person
from integrations.slack.interaction import plans
from integrations.slack.protocol.mrkdwn import escape
from integrations.tests.house import House
from workflows.planning.plan import Plan
from workflows.reconcile import retyping
from workflows.usergroups import workspace_cache

TRAITS: dict[str, dict[str, object] | None] = {
    "a guest": {"is_restricted": True},
    "a guest of one channel": {"is_restricted": True, "is_ultra_restricted": True},
    "a leaver": {"deleted": True},
    "a stranger": {"is_stranger": True, "team_id": "T0OTHER"},
    "a bot": {"is_bot": True},
    "an account of the web": None,
}
WAYS: dict[str, Callable[[Incident, Person, House], object]] = {
    "leads": lambda incident, person, house: lifecycle.set_lead(incident, lead=person, by=None, at=house.now()),
    "has a role": lambda incident, person, house: lifecycle.set_role(
        incident, role="Scribe", holder=person, by=None, at=house.now()
    ),
    "came along": lambda incident, person, house: lifecycle.joined(
        incident, person=person, room=incident.room, inviter=None, at=house.now()
    ),
    "declared it": lambda incident, person, house: None,
    "retypes it": lambda incident, person, house: lifecycle.joined(
        incident, person=person, room=incident.room, inviter=None, at=house.now()
    ),
}
TYPES = ["internal", "security", "major"]


def odd(house: House, traits: dict[str, object] | None) -> Person:
    """Return a person who got these traits after we first saw them."""
    if traits is None:
        return Person.objects.create(name="Odo", email="odo@example.com")
    house.slack.add_person("odo", name="Odo", email="odo@example.com")
    workspace_cache.refresh(everybody=True)
    return house.person("odo")


def invited(plan: Plan) -> Iterator[str]:
    """Yield the names in lines that invite."""
    for line in plan.lines:
        if line.sign == "+" and line.text.startswith("invite "):
            yield from line.text.removeprefix("invite ").partition(" (")[0].split(", ")


CASES = [one for one in product(TRAITS, WAYS) if one[1] != "retypes it" or one[0] not in {"a leaver", "a bot"}]


@pytest.mark.parametrize(("kind", "way"), CASES)
@pytest.mark.parametrize("to", TYPES)
def test_every_invitation_that_a_plan_names_is_carried_out(house: House, kind: str, way: str, to: str) -> None:
    traits = TRAITS[kind]
    person = odd(house, traits)
    by = person if way == "declared it" else house.person("dee")
    declared = lifecycle.declare("Checkout is slow", by=by, at=house.now(), type=house.type("ambiguous"))
    WAYS[way](declared, person, house)
    if traits is not None:
        for name, value in traits.items():
            setattr(house.slack.person("odo"), name, value)
        workspace_cache.refresh(everybody=True)
    incident = house.settle(declared)
    by = Person.objects.get(pk=person.pk if way == "retypes it" else house.person("dee").pk)
    before = set(incident.events.values_list("n", flat=True))
    plan = retyping.preview(incident, to=house.type(to), by=by)
    whole = retyping._work_out(incident, house.type(to).policy, by=by, bring=(), come=True).plan
    retyping.confirm(incident, to=house.type(to), by=by, at=house.now(), digest=plan.digest)
    incident = house.settle(incident)
    inside = {house.slack.person(one).name for one in house.slack.members(house.channel(incident))}
    assert set(invited(whole)) <= inside
    refused = incident.events.exclude(n__in=before).filter(text__contains="could not invite")
    assert not refused.exists()
    wanted = incident.participants.filter(left_at=None, person=person, went=False, person__deactivated=False)
    if wanted.exists() and "Odo" not in inside:
        why = {"a guest": "is a guest", "a stranger": "is from another workspace", "an account": "no Slack account"}
        (said,) = [line.text for line in whole.lines if "Odo" in line.text and "shut" not in line.text]
        assert [words for start, words in why.items() if kind.startswith(start) and words in said], said
        assert escape(said) in str(plans.shown(whole)), "Slack's window says it as well"

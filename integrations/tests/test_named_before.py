"""Everyone a retype lets into a private incident is named in its plan, whether or not a channel takes them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext

import pytest

from incidents import lifecycle, visibility
from incidents.models import Incident, Person
from incidents.policies import types
from incidents.policies.policy import Policy
from integrations.tests.house import House
from workflows import ports
from workflows.channels import rooms
from workflows.planning.plan import Plan
from workflows.reconcile import retyping

READS = " will be able to read the private history."
TO = ("ambiguous", "internal", "time-bomb", "isolated", "major", "leaks")
ROOMS = ("open", "archived", "archived and back", "nothing connected", "not made yet")


@pytest.mark.parametrize("channel", ROOMS)
@pytest.mark.parametrize("to", TO)
def test_whoever_comes_to_see_a_private_incident_was_named_as_one_who_would(
    house: House, to: str, channel: str
) -> None:
    add_private_type(house)
    wilma = Person.objects.create(name="Wilma", email="wilma@example.com")  # has no Slack account
    out, security = house.person("out"), house.type("security")
    incident = lifecycle.declare("Keys", by=out, at=house.now(), type=security)
    if channel != "not made yet":
        incident = house.settle(incident)
    by_hand(house, incident, channel)
    before, type_ = readers(incident), house.type(to)
    with connected(channel):
        plan = retyping.preview(incident, to=type_, by=out, bring=[wilma])
        digest = plan.digest
        after = retyping.confirm(incident, to=type_, by=out, bring=[wilma], at=house.now(), digest=digest)
        came = readers(after) - before
        assert readers(house.settle(after)) == before | came, "nobody else comes in by carrying it out"
    assert "Wilma" in came
    assert came <= named(plan) <= came | before
    read = [note.text.removesuffix(READS) for note in plan.notes if note.text.endswith(READS)]
    assert sorted(name for text in read for name in listed(text)) == sorted(came)


def add_private_type(house: House) -> None:
    policy = Policy("leaks", "Leaks", "Something leaked", private=True, invite=("communications",))
    types.add(policy, by=None, at=house.now())


def by_hand(house: House, incident: Incident, channel: str) -> None:
    if channel.startswith("archived"):
        room = incident.resources.get(key="channel/1").external_id
        house.slack.acts.archive("sam", room)
        rooms.archived_by_hand(room, archived=True, at=house.now())
        if channel.endswith("back"):
            house.slack.acts.unarchive("sam", room)
            rooms.archived_by_hand(room, archived=False, at=house.now())


def connected(channel: str) -> AbstractContextManager[object]:
    return ports.using(chat=None) if channel == "nothing connected" else nullcontext()


def readers(incident: Incident) -> set[str]:
    now = Incident.objects.get(pk=incident.pk)
    return {one.name for one in Person.objects.filter(is_bot=False) if visibility.may_see(one, now)}


def named(plan: Plan) -> set[str]:
    """Return everyone that the lines name as coming in."""
    said = [line.text for line in plan.lines if line.sign == "+"]
    return {name for text in said if re.search("^invite | can see it on the web", text) for name in listed(text)}


def listed(text: str) -> Iterable[str]:
    text = re.sub(r" \(.*?\)", "", text.removeprefix("invite "))
    return re.split(", ", re.sub(" can see it on the web.*", "", text))

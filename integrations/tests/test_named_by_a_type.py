"""A role goes to the one person its type names, whatever others call themselves; if there is none, it is said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from incidents.models import Incident, Person
from incidents.policies import types
from incidents.policies.policy import OneOf
from integrations.tests.house import House
from workflows.reconcile import retyping
from workflows.usergroups import workspace_cache

ROLE = "Counsel"
LEA = "lea@example.com"
CALLED = {"ann": "before her", "zed": "after her"}  # whose record was created before Lea's, or after


def named(house: House, otherwise: str) -> Incident:
    """A private incident whose type names a person for a role, and a schedule that cannot be read."""
    policy = house.type("security").policy
    role = OneOf(ROLE, schedule="Counsel", otherwise=otherwise)
    types.edit(house.type("security"), policy=replace(policy, one_of=(role,)), by=None, at=house.now())
    return house.declare(type="security")


def holder(incident: Incident) -> Person | None:
    """Return the person with the role."""
    chosen = incident.events.filter(kind="chosen").last()
    return Person.objects.get(pk=chosen.data["person"]) if chosen else None


def call(house: House, handle: str, name: str) -> None:
    """Let a person change their name, as anyone may."""
    house.slack.workspace.people[house.slack.person(handle).id].name = name
    workspace_cache.refresh(everybody=True)


@pytest.mark.parametrize("handle", CALLED, ids=CALLED.values())
@pytest.mark.parametrize("way", ["email", "EMAIL", "id", "@id", "leaver", "guest"])
def test_an_address_or_an_id_is_no_one_elses_because_they_call_themselves_that(
    house: House, way: str, handle: str
) -> None:
    house.slack.add_person("zed", name="Zed", email="zed@example.com")
    workspace_cache.refresh(everybody=True)
    lea = house.slack.person("lea")
    said = {"id": lea.id, "@id": f"@{lea.id}", "EMAIL": LEA.upper()}.get(way, LEA)
    call(house, handle, said.lstrip("@"))
    lea.deleted, lea.is_restricted = way == "leaver", way == "guest"
    workspace_cache.refresh(everybody=True)
    incident = named(house, said)
    assert holder(incident) == (None if way in {"leaver", "guest"} else house.person("lea"))
    assert handle not in house.slack.members(house.channel(incident))


@pytest.mark.parametrize("handle", CALLED, ids=CALLED.values())
def test_a_name_that_two_have_is_no_one_and_that_is_said(house: House, handle: str) -> None:
    house.slack.add_person("zed", name="Zed", email="zed@example.com")
    workspace_cache.refresh(everybody=True)
    call(house, handle, "LEA")
    incident = named(house, "Lea")
    assert holder(incident) is None
    assert not {"lea", handle} & house.slack.members(house.channel(incident))
    plan = retyping.preview_declare(type=house.type("security"), by=house.person("dee"))
    assert "“Lea” is not exactly one person who can be invited. Choose someone." in "\n".join(map(str, plan.lines))
    assert incident.events.get(kind="gap").text.startswith(f"No one is {ROLE}: ")


def test_a_name_that_one_person_has_is_that_person(house: House) -> None:
    house.slack.add_person("gus", name="Lea", is_restricted=True)
    workspace_cache.refresh(everybody=True)
    incident = named(house, "lea")
    assert holder(incident) == house.person("lea")
    assert "lea" in house.slack.members(house.channel(incident))

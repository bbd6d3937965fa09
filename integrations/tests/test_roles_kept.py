"""A person chosen for a role keeps it when only the channel is replaced, as the plan says, on shift or not."""

from __future__ import annotations

import pytest

from incidents.models import Incident
from incidents.policies import types
from incidents.policies.policy import OneOf, Policy
from integrations.tests.duty import Duty
from integrations.tests.house import House, organisation
from integrations.tests.test_people_laws import Story, named
from workflows.channels import rooms
from workflows.reconcile import retyping

ONE = (OneOf("Boss", schedule="Platform leadership"),)  # Pia is on call, until someone else is


def lost(house: House, incident: Incident) -> Incident:
    """Delete the channel."""
    channel = house.slack.channel(house.channel(incident))
    house.slack.person("dee").is_admin = True
    house.slack.acts.delete_channel("dee", channel.name)
    rooms.deleted(channel.id, at=house.now())
    return house.settle(incident)


def another(house: House, incident: Incident) -> Incident:
    """Ask for a new channel."""
    rooms.open_another(lost(house, incident), by=house.person("dee"), at=house.now())
    return house.settle(incident)


def retyped(house: House, incident: Incident) -> Incident:
    """Retype it, and so get a new channel, which exactly the people named in the plan join."""
    incident = lost(house, incident)
    plan = retyping.preview(incident, to=house.type("other"), by=house.person("dee"))
    incident = house.retype(incident, "other")
    said = named(line.text for line in plan.lines if line.sign == "+")
    assert said == inside(house, incident), [str(line) for line in plan.lines]
    return incident


def inside(house: House, incident: Incident) -> set[str]:
    return set(house.slack.members(house.channel(incident))) - {"firekind"}


@pytest.mark.parametrize("private", [False, True], ids=["public", "private"])
@pytest.mark.parametrize("way", [another, retyped])
def test_a_channel_that_takes_the_place_of_one_that_is_gone_changes_nobodys_role(
    duty: Duty, way: object, private: bool
) -> None:
    house = duty.house
    for slug in ("first", "other"):
        types.add(Policy(slug, slug.title(), "All", private=private, one_of=ONE), by=None, at=house.now())
    incident = house.declare(type="first")
    Story(duty, incident).shift("Platform leadership", "eve")
    assert callable(way)
    keeps_its_people(house, way(house, incident))


@pytest.mark.parametrize("refused", [False, True])
def test_a_channel_that_could_not_be_made_private_changes_nobodys_role(duty: Duty, refused: bool) -> None:
    house = duty.house
    types.add(Policy("first", "First", "All"), by=None, at=house.now())
    types.add(Policy("other", "Other", "All", private=True, one_of=ONE), by=None, at=house.now())
    with organisation(house, pager=duty.pager):
        incident = house.declare(type="first")
        if refused:
            house.slack.faults.add("error", method="admin.conversations.convertToPrivate", error="restricted_action")
        plan = retyping.preview(incident, to=house.type("other"), by=house.person("dee"))
        retyping.confirm(incident, to=house.type("other"), by=house.person("dee"), at=house.now(), digest=plan.digest)
        Story(duty, incident).shift("Platform leadership", "eve")
        incident = house.settle(incident)
        assert incident.room == (2 if refused else 1)
        keeps_its_people(house, incident)


def keeps_its_people(house: House, incident: Incident) -> None:
    assert inside(house, incident) == {"dee", "pia"}
    assert incident.events.filter(kind="chosen").count() == 1
    assert not incident.resources.filter(kind="gap", key="gap/one-of/Boss").exists()

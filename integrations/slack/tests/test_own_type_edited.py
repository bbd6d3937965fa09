"""The type of an open incident is edited: whatever its page then asks people to do works through every door."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from incidents import lifecycle, timeline
from incidents.models import Incident, Person
from incidents.models.people import Role
from incidents.policies import types
from integrations.slack.tests.door import Door
from integrations.tests.house import House
from integrations.tests.test_people_laws import account
from workflows.tests.test_views_retype import hidden

SLUG: Final = "ambiguous"
# What the type asks for instead, and whether an open incident gets that by a retype; otherwise it adopts it.
EDITS: Final[dict[str, tuple[dict[str, Any], bool]]] = {
    "private": ({"private": True, "announce": False}, True),
    "private and other groups": ({"private": True, "announce": False, "invite": ("security",)}, True),
    "groups": ({"invite": ("security",)}, False),
    "words": ({"says": "Who knows."}, False),
    "nothing": ({}, False),
}


def web(door: Door, incident: Incident) -> None:
    client = Client()
    client.force_login(account(door.house.person("dee")))
    address = f"{incident.get_absolute_url()}retype"
    page = client.get(f"{address}?to={SLUG}").content.decode()
    if 'id="confirm"' in page:
        given = hidden(page)
        assert client.post(address, given)["Location"]
        assert client.post(address, given)["Location"] == incident.get_absolute_url(), "sent again, it was done"


def command(door: Door, incident: Incident) -> None:
    door.command("dee", f"type {SLUG}", channel=door.house.channel(incident))
    if door.slack.modal("dee"):
        door.submit("dee")


def form(door: Door, incident: Incident) -> None:
    door.command("dee", "type", channel=door.house.channel(incident))
    if SLUG in str(door.modal("dee")["blocks"]):
        door.press("dee", "firekind:retype-type", value=SLUG)
        door.submit("dee")


def terminal(door: Door, incident: Incident) -> None:
    with suppress(CommandError):
        call_command("incident", "retype", incident.codename, SLUG, "--by", "dee@example.com", stdout=io.StringIO())


DOORS: Final[dict[str, Callable[[Door, Incident], None]]] = {
    "web": web,
    "command": command,
    "form": form,
    "terminal": terminal,
}


def edit(house: House, **asked: Any) -> None:
    type = house.type(SLUG)
    types.edit(type, policy=replace(type.policy, **asked), by=None, at=house.now())


@pytest.mark.parametrize("through", DOORS)
@pytest.mark.parametrize("which", EDITS)
def test_what_an_edit_leaves_to_people_is_a_retype_or_an_adoption_and_never_neither(
    door: Door, which: str, through: str
) -> None:
    house = door.house
    incident = house.settle(house.declare(type=SLUG))
    asked, retypes = EDITS[which]
    edit(house, **asked)
    newest = house.type(SLUG).current
    DOORS[through](door, incident)
    incident = house.settle(incident)
    assert (incident.policy_version == newest) == (retypes or which == "nothing")
    assert incident.private == retypes
    assert incident.events.filter(kind="retyped").count() == retypes, "once"
    if not retypes:
        lifecycle.adopt(incident, by=None, at=house.now())
    assert house.settle(incident).policy_version == newest
    with pytest.raises(lifecycle.Refused, match="already"):
        lifecycle.retype(incident, to=house.type(SLUG), by=None, at=house.now())


def test_what_cannot_be_adopted_leads_to_its_plan_which_says_who_loses_access(door: Door) -> None:
    house, dee = door.house, door.house.person("dee")
    incident = house.settle(house.declare(type=SLUG))
    edit(house, **EDITS["private and other groups"][0])
    Person.objects.filter(pk=dee.pk).update(role=Role.MANAGER)
    client = Client()
    client.force_login(account(dee))
    address = f"{incident.get_absolute_url()}retype?to={SLUG}"
    assert f'href="{address}"' in client.get(f"/types/{SLUG}/adopt").content.decode()
    page = client.get(address).content.decode()
    assert "It turns private, for good." in page
    assert "end access for" in page
    with pytest.raises(lifecycle.Refused, match="retype it"):
        lifecycle.adopt(incident, by=None, at=house.now())


def test_it_reads_as_one_type_and_not_as_two(door: Door) -> None:
    house = door.house
    incident = house.settle(house.declare(type=SLUG))
    edit(house, private=True, announce=False)
    house.retype(incident, SLUG, by="dee")
    client = Client()
    client.force_login(account(house.person("dee")))
    event = incident.events.get(kind="retyped")
    assert timeline.sentence(event) == "retyped it to Ambiguous, which is private now"
    assert "Ambiguous, private now" in client.get(incident.get_absolute_url()).content.decode()

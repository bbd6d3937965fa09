"""A type is edited while someone has the declare form open: what is declared is what was shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pytest
from django.test import Client

from incidents.models import Incident, IncidentType
from incidents.policies import types
from incidents.policies.policy import OneOf
from integrations.slack.tests.door import Door
from integrations.tests.test_people_laws import account

BEGINS: Final[dict[str, Any]] = {"private": True, "announce": False, "invite": ("security",), "pages": ()}
# What a type asks for instead, and whether more people would learn of the incident or be called to it.
EDITS: Final[dict[str, tuple[dict[str, Any], bool]]] = {
    "public": ({"private": False, "announce": True}, True),
    "groups": ({"invite": ("security", "support")}, True),
    "roles": ({"one_of": (OneOf("Boss", group="leadership"),)}, True),
    "pages": ({"pages": ("Major incidents",)}, True),
    "words": ({"says": "Someone got in.", "checklist": ("Call legal",)}, False),
    "nothing": ({}, False),
}
FIELD = re.compile(r'name="(type|versions)"[^>]*?value="([^"]*)"(?P<picked>[^>]*)')


def edit(door: Door, slug: str, **asked: Any) -> None:
    """Edit a type's policy, as an operator does."""
    type = door.house.type(slug)
    types.edit(type, policy=replace(type.policy, **asked), by=None, at=door.house.now())


class Web:
    """The web page with this type chosen."""

    def __init__(self, door: Door) -> None:
        self.client = Client()
        self.client.force_login(account(door.house.person("ann")))
        self.page = self.client.get("/declare").content.decode()

    def send(self, type: str = "security") -> str:
        """Submit the form as it is, and return the resulting page."""
        held = {name: value for name, value, _ in FIELD.findall(self.page)}
        given = {"title": "Keys leaked", "type": type, "versions": held.get("versions", "")}
        self.page = self.client.post("/declare", given).content.decode()
        return self.page


class Window:
    """Slack's modal with this type chosen."""

    def __init__(self, door: Door) -> None:
        self.door = door
        door.command("ann", "declare")
        door.press("ann", "firekind:declare-type", value="security")

    def send(self) -> str:
        """Submit the modal as it is, and return what it then shows."""
        answer = self.door.submit("ann", title="Keys leaked")
        return f"{answer} {self.door.slack.modal('ann')}"


def picked(page: str) -> str:
    """Return the type that is chosen on the page."""
    found: list[str] = [value for name, value, more in FIELD.findall(page) if name == "type" and "checked" in more]
    return found[0]


@pytest.mark.parametrize("opened", [Web, Window])
def test_what_was_archived_meanwhile_is_not_declared_and_that_is_said(
    door: Door, opened: Callable[[Door], Web | Window]
) -> None:
    form = opened(door)
    types.archive(door.house.type("security"), by=None, at=door.house.now())
    shown = form.send()
    assert not Incident.objects.exists()
    assert "Keys leaked" in shown, "what was typed is not lost"
    assert "was archived" in shown or "There is no type" in shown


@pytest.mark.parametrize("others", [True, False])
def test_in_place_of_a_private_type_that_was_archived_a_private_one_is_chosen(door: Door, others: bool) -> None:
    if others:
        edit(door, "isolated", private=True, announce=False)
    form = Web(door)
    types.archive(door.house.type("security"), by=None, at=door.house.now())
    page = form.send()
    assert picked(page) == ("isolated" if others else "ambiguous")
    assert "Check the selected type" in page
    form.send(picked(page))
    assert Incident.objects.get().private == others


@pytest.mark.parametrize("opened", [Web, Window])
@pytest.mark.parametrize("which", EDITS)
def test_what_a_form_showed_is_what_is_declared_or_the_new_plan_is_shown_first(
    door: Door, opened: Callable[[Door], Web | Window], which: str
) -> None:
    edit(door, "security", **BEGINS)
    form = opened(door)
    asked, is_other = EDITS[which]
    edit(door, "security", **asked)
    before = Incident.objects.count()
    shown = form.send()
    assert Incident.objects.count() == before + (not is_other), "nothing is declared as nobody was shown"
    if is_other:
        assert "Security was edited" in shown
        assert "Keys leaked" in shown, "what was typed is not lost"
        form.send()
    incident = Incident.objects.get()
    assert incident.policy_version == IncidentType.objects.get(slug="security").current

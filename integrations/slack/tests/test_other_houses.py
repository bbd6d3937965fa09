"""Other teams have other types, only one, or with names that are other types' slugs: every modal works there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from incidents.models import Incident, IncidentType
from incidents.policies import types
from integrations.slack.listeners import command_table
from integrations.slack.tests.door import Door

ONE = "Ambiguous is the only type so far. Add another on http://testserver/types/."


def alone(door: Door, slug: str) -> None:
    """Archive all types but one."""
    types.make_default(IncidentType.objects.get(slug=slug), by=None)
    for one in IncidentType.objects.exclude(slug=slug):
        types.archive(one, by=None, at=door.house.now())


def around(door: Door) -> None:
    """Name each type with the slug of the next one."""
    every = list(IncidentType.objects.usable())
    for type, after in zip(every, [*every[1:], every[0]], strict=True):
        types.edit(type, policy=replace(type.policy, name=after.slug.capitalize()), by=None, at=door.house.now())


@pytest.mark.parametrize("left", ["ambiguous", "major", "security"])
@pytest.mark.parametrize("name", [one.name for one in command_table.COMMANDS])
def test_every_command_opens_a_window_that_slack_takes_or_says_why_not(
    door: Door, incident: Incident, name: str, left: str
) -> None:
    alone(door, left)
    for words in ("", " it is slow"):
        said = door.command("ann", f"{name}{words}", channel=door.house.channel(incident))
        assert "did not open the window" not in said
        assert said or door.slack.modal("ann")


@pytest.mark.parametrize("typed", ["retype", "retype major", "retype because it is"])
def test_with_no_other_type_a_retype_says_where_to_add_one(door: Door, incident: Incident, typed: str) -> None:
    channel = door.house.channel(incident)
    alone(door, "ambiguous")
    assert door.command("ann", typed, channel=channel) == ONE
    door.press("ann", "firekind:retype", channel=channel)
    assert door.slack.ephemerals("ann")[-1].text == ONE


def options(view: dict[str, Any]) -> dict[str, str]:
    """Return a modal's type options: slug by name."""
    fields = (one for one in view["blocks"] if one.get("block_id") == "type")
    return {one["text"]["text"]: one["value"] for field in fields for one in field["element"]["options"]}


def test_a_type_that_is_chosen_is_the_one_that_was_listed_whatever_others_are_called(door: Door) -> None:
    around(door)
    door.command("ann", "declare")
    for name, slug in options(door.modal("ann")).items():
        door.command("ann", "declare")
        door.press("ann", "firekind:declare-type", value=slug)
        door.submit("ann", title=f"as {name}")
        incident = door.incident()
        assert (incident.title, incident.policy.name) == (f"as {name}", name)
        incident = door.house.settle(incident)
        channel = door.house.channel(incident)
        door.command("ann", "retype", channel=channel)
        to, other = next(iter(options(door.modal("ann")).items()))
        door.press("ann", "firekind:retype-type", value=other)
        assert door.modal("ann")["submit"]["text"] == f"Retype to {to}"
        door.submit("ann")
        assert Incident.objects.get(pk=incident.pk).policy.name == to


def test_a_type_that_is_typed_is_the_one_of_that_name(door: Door) -> None:
    around(door)
    for type in IncidentType.objects.usable():
        door.command("ann", f"declare {type.policy.name}: checkout is slow")
        assert door.incident().policy.name == type.policy.name
        door.command(
            "ann", f"retype {type.policy.name}", channel=door.house.channel(door.house.settle(door.incident()))
        )

"""Other houses than ours have other types: one alone, say; every window works there."""

from __future__ import annotations

import pytest

from incidents.models import Incident, IncidentType
from incidents.policies import types
from integrations.slack.listeners import command_table
from integrations.slack.tests.door import Door

ONE = "There is no other type than Ambiguous yet. Add one on http://testserver/types/."


def alone(door: Door, slug: str) -> None:
    """Leave one type in use."""
    types.make_default(IncidentType.objects.get(slug=slug), by=None)
    for one in IncidentType.objects.exclude(slug=slug):
        types.archive(one, by=None, at=door.house.now())


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

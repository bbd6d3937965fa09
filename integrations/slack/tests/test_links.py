"""Links to incidents that people post: shown where everybody may see what stands behind them, and nowhere else."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest

from incidents.models import Incident
from integrations.slack.protocol import setup
from integrations.slack.tests.door import Door


@pytest.fixture
def incident(door: Door) -> Incident:
    door.slack.unfurl_domains = frozenset({urlsplit(setup.base_url()).hostname or ""})
    return door.declared("Checkout is slow")


def posted(door: Door, incident: Incident, channel: str, *, by: str = "ann", path: str = "") -> list[dict[str, Any]]:
    """Post a link, let Slack tell of it, and return what is shown below the message."""
    link = f"{setup.base_url()}{path or incident.get_absolute_url()}"
    ts = door.slack.acts.say(by, channel, f"look at {link}")
    assert set(door.deliver()) <= {200}
    shown: list[dict[str, Any]] = door.slack.channel(channel).messages[ts].attachments
    return shown


def test_a_public_incident_is_shown_where_only_people_of_the_workspace_are(door: Door, incident: Incident) -> None:
    (shown,) = posted(door, incident, "lobby")
    assert incident.codename in str(shown["blocks"])
    assert "Ambiguous" in str(shown["blocks"])


def test_the_title_is_in_no_message_of_somebody_else(door: Door, incident: Incident) -> None:
    (shown,) = posted(door, incident, "lobby")
    assert "Checkout" not in str(shown), "it could not be taken back once the incident is private"


def test_nothing_is_shown_where_a_guest_reads_along(door: Door, incident: Incident) -> None:
    door.slack.add_person("gus", name="Gus", email="gus@example.com", is_restricted=True)
    door.house.chat.people()
    door.slack.acts.invite("ann", "lobby", ["gus"])
    assert not posted(door, incident, "lobby")


def test_nothing_is_shown_where_somebody_is_whom_we_do_not_know(door: Door, incident: Incident) -> None:
    door.slack.add_person("new", name="New", email="new@example.com")
    door.slack.acts.invite("ann", "lobby", ["new"])
    door.slack.take_deliveries()
    assert not posted(door, incident, "lobby")


def test_a_private_incident_is_shown_in_its_own_room_alone(door: Door, incident: Incident) -> None:
    moved = door.house.retype(incident, "security", by="ann")
    door.slack.take_deliveries()
    assert not posted(door, moved, "lobby")
    (shown,) = posted(door, moved, door.house.channel(moved))
    assert "Checkout is slow" in str(shown["blocks"])
    assert not posted(door, moved, "lobby", by="eve")


def test_what_is_no_incident_of_ours_is_left_alone(door: Door, incident: Incident) -> None:
    assert not posted(door, incident, "lobby", path="/incidents/no-such/")
    assert not posted(door, incident, "lobby", path="/oncall/")

"""Breaking glass, and publishing a summary, from Slack: with the same rules as on the web."""

from __future__ import annotations

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident
from incidents.models.access import Miss, Summary
from integrations.slack.tests.conftest import LayOut
from integrations.slack.tests.door import Door

WHY = "because our keys are public and I can revoke them"


@pytest.fixture(scope="module")
def lay_out() -> LayOut:
    """Declare a private incident that Sam leads and Sia is in."""
    return Door.led_in_private


def test_who_breaks_glass_is_in_and_its_people_are_told_why(door: Door, incident: Incident) -> None:
    assert "You have access" in door.command("out", f"break-glass {incident.codename} {WHY}")
    door.house.settle(incident)
    assert "our keys are public" in str(door.slack.messages(door.house.channel(incident)))
    assert "already have access" in door.command("out", f"break-glass {incident.codename} {WHY}")


def test_a_wrong_codename_stays_written_down_and_five_are_enough(door: Door, incident: Incident) -> None:
    assert "full sentence" in door.command("out", f"break-glass {incident.codename} because help")
    assert not Miss.objects.exists()
    for _ in range(5):
        said = door.command("out", f"break-glass quiet-heron {WHY}")
        assert "No private incident" in said or "no private incident" in said
    assert Miss.objects.count() == 5
    assert "within an hour" in door.command("out", f"break-glass {incident.codename} {WHY}")
    assert not incident.events.filter(kind="glass").exists()


def test_one_writes_a_summary_and_another_publishes_what_they_read(door: Door, incident: Incident) -> None:
    channel = door.house.channel(incident)
    door.command("sia", "open-up", channel=channel)
    assert "with a link in #incidents" in door.reads(door.modal("sia"))
    assert incident.codename in str(door.submit("sia", summary=f"It was {incident.codename}."))
    door.submit("sia", summary="A token was public.")
    door.house.settle(incident)
    door.press("sia", "firekind:publish", channel=channel)
    assert "wrote this summary" in door.slack.ephemerals("sia")[-1].text
    door.press("sam", "firekind:publish", channel=channel)
    assert "A token was public." in door.reads(door.modal("sam"))
    assert "with a link in #incidents" in door.reads(door.modal("sam"))
    door.submit("sam")
    assert Summary.objects.get().published_at is not None
    door.house.settle(incident)
    assert "firekind:publish" not in str(door.slack.messages(channel))


def test_what_was_rewritten_has_to_be_read_again(door: Door, incident: Incident) -> None:
    channel = door.house.channel(incident)
    lifecycle.open_up(incident, summary="A token was public.", by=door.house.person("sia"), at=timezone.now())
    door.house.settle(incident)
    door.press("sam", "firekind:publish", channel=channel)
    lifecycle.open_up(incident, summary="Two tokens were public.", by=door.house.person("sia"), at=timezone.now())
    assert "Read it again" in str(door.submit("sam"))
    assert Summary.objects.filter(published_at=None).count() == 1


def test_a_public_incident_has_nothing_to_open(door: Door) -> None:
    other = door.declared()
    assert "everyone can see it" in door.command("ann", "open-up", channel=door.house.channel(other))

"""Paging by hand through each door, until someone is notified: from Slack, and from a terminal."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.core.management import CommandError

from incidents.models import Incident
from integrations.slack.adapter import current
from integrations.slack.adapter.client import SlackChat
from integrations.slack.adapter.identity import Identity
from integrations.slack.tests.door import Door, DoorWire
from integrations.tests.duty import Duty
from integrations.tests.house import TOKEN, House
from integrations.tests.test_terminal import run


@pytest.fixture
def door(duty: Duty) -> Iterator[Door]:
    """Its door for people in Slack."""
    wire = DoorWire(duty.house.slack, token=TOKEN)
    with current.using(SlackChat(wire, identity=Identity(wire))):
        yield Door(duty.house)


@pytest.fixture
def incident(duty: Duty) -> Incident:
    """An incident that pages no one by itself."""
    return duty.house.declare()


def test_a_command_rings_a_phone_and_brings_its_owner_in(duty: Duty, door: Door, incident: Incident) -> None:
    channel = duty.house.channel(incident)
    door.command("ann", "page Engineering because payments fail", channel=channel)
    assert "*Engineering*: pages Eve now." in door.reads(door.modal("ann"))
    door.submit("ann")
    assert duty.times_rung("eve") == 0, "nothing goes out before the answer"
    incident = duty.house.settle(incident)
    assert duty.times_rung("eve") == 1
    assert "eve" in duty.house.slack.members(channel)
    assert any("Paged Engineering: Eve" in text for text in duty.house.slack.texts(channel))
    said = door.command("ann", "page engineering", channel=channel)
    assert said.startswith("*Engineering* was already paged: paging.")


def test_somebody_is_paged_by_mentioning_them(duty: Duty, door: Door, incident: Incident) -> None:
    channel = duty.house.channel(incident)
    door.command("ann", "page @max", channel=channel)
    door.submit("ann")
    incident = duty.house.settle(incident)
    assert duty.times_rung("max") == 1
    assert duty.opened(incident) == ["Max: triggered"]


def test_a_terminal_lists_whom_one_can_page_and_shows_before_it_pages(duty: Duty, incident: Incident) -> None:
    listed = run("page", incident.codename).splitlines()
    assert "Escalation policies" in listed
    assert "  Engineering  pages Eve" in listed
    assert run("page", incident.codename, "engineering", "--dry-run").splitlines()[-1] == "  Engineering  pages Eve"
    assert not incident.events.filter(kind="paged").exists()
    done = run("page", incident.codename, "Engineering", "--because", "payments fail", "--by", "dee@example.com")
    assert "+ page Engineering (pages Eve)" in done
    duty.house.settle(incident)
    assert duty.times_rung("eve") == 1
    asked = incident.events.get(kind="paged")
    assert (asked.source, asked.text, asked.by) == ("terminal", "payments fail", duty.house.person("dee"))
    assert "  Engineering  already paged: paging" in run("page", incident.codename).splitlines()


def test_a_terminal_pages_a_person_by_e_mail_and_names_the_nearest(duty: Duty, incident: Incident) -> None:
    assert "+ page Max" in run("page", incident.codename, "max@example.com")
    with pytest.raises(CommandError, match="The closest: Engineering"):
        run("page", incident.codename, "Enginering")


def test_a_terminal_without_a_pager_says_so(house: House) -> None:
    run("declare", "Checkout is slow")
    assert "PagerDuty is not connected" in run("page", Incident.objects.get().codename)

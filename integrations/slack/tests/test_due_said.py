"""Every door says the same about a status update that is due, overdue or not required, at any time."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident
from integrations.slack.tests.door import Door

SAID = (("overdue", re.compile(r"overdue", re.IGNORECASE)), ("due", re.compile(r"next update", re.IGNORECASE)))


def passed(door: Door, incident: Incident) -> None:
    """The time has passed, and no one was notified yet."""
    Incident.objects.filter(pk=incident.pk).update(update_due_at=timezone.now() - timedelta(minutes=3))


def told(door: Door, incident: Incident) -> None:
    """The time has passed, and people were notified."""
    lifecycle.update_fell_due(incident, at=timezone.now() + timedelta(days=2))


def answered(door: Door, incident: Incident) -> None:
    """People were notified, and someone posted an update."""
    told(door, incident)
    lifecycle.update(incident, text="looking", by=door.house.person("ann"), at=timezone.now())


def unasked(door: Door, incident: Incident) -> None:
    """People were notified, and then the incident took a type that requires no updates."""
    told(door, incident)
    lifecycle.retype(incident, to=door.house.type("internal"), by=door.house.person("ann"), at=timezone.now())


def over(door: Door, incident: Incident) -> None:
    """People were notified, and then the incident ended."""
    told(door, incident)
    lifecycle.resolve(incident, by=door.house.person("ann"), at=timezone.now())


MOMENTS: dict[str, tuple[Callable[[Door, Incident], None] | None, str]] = {
    "declared": (None, "due"),
    "passed": (passed, "overdue"),
    "told": (told, "overdue"),
    "answered": (answered, "due"),
    "unasked": (unasked, ""),
    "over": (over, ""),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_every_door_says_alike_whether_an_update_is_due(moment: str, door: Door) -> None:
    incident = door.declared(type="major")
    happened, expected = MOMENTS[moment]
    assert incident.policy.update_every_min
    if happened is not None:
        happened(door, incident)
    said = {"page": page_of(door, incident), "terminal": terminal_of(incident)}
    said["/incident status"] = door.command("ann", f"status {incident.codename}")
    assert {door: what(text) for door, text in said.items()} == dict.fromkeys(said, expected)


def what(text: str) -> str:
    """Return what a door's text says about the next update."""
    return next((name for name, words in SAID if words.search(text)), "")


def page_of(door: Door, incident: Incident) -> str:
    """Return what the page says about it."""
    ann = door.house.person("ann")
    ann.user = User.objects.create_user("ann")
    ann.save()
    browser = Client()
    browser.force_login(ann.user)
    page = browser.get(incident.get_absolute_url()).content.decode()
    return " ".join(re.findall(r'<p class="due.*?</p>', page, re.DOTALL))


def terminal_of(incident: Incident) -> str:
    """Return what the terminal prints above the timeline."""
    out = io.StringIO()
    call_command("incident", "show", incident.codename, stdout=out)
    return out.getvalue().partition("Timeline")[0]

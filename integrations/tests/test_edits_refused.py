"""A workspace forbids edits after a while: messages that have to go are deleted, and nothing else is."""

from __future__ import annotations

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident
from integrations.tests.house import House
from workflows.models import Effect

SECRET = "hunter2-zebracorn"


@pytest.fixture
def incident(house: House) -> Incident:
    """An incident led by Dee that says a secret in public, which no edit can remove any more."""
    found, dee = house.declare(SECRET, type="major"), house.person("dee")
    lifecycle.set_lead(found, lead=dee, by=dee, at=timezone.now())
    lifecycle.update(found, text=f"It is {SECRET}", by=dee, at=house.now())
    found = house.settle(found)
    assert public(house)
    house.slack.faults.add("error", method="chat.update", error="edit_window_closed")
    return found


def public(house: House) -> list[str]:
    """Return what everyone can read about the secret."""
    channels = [one for one in house.slack.workspace.channels.values() if one.kind == "public"]
    return [text for one in channels for text in house.slack.texts(one.name) if SECRET in text]


def test_what_is_redacted_is_gone_and_so_is_nothing_else(house: House, incident: Incident) -> None:
    channel, dee = house.channel(incident), house.person("dee")
    lifecycle.rename(incident, title="Checkout is slow", by=dee, at=timezone.now())
    said = [text for text in house.slack.texts(channel) if f"It is {SECRET}" not in text]
    assert [text for text in house.slack.texts(channel) if f"Update from Dee · It is {SECRET}" in text]
    for n in incident.events.filter(kind="updated").values_list("n", flat=True):
        lifecycle.redact(incident, n=n, by=dee, at=timezone.now())
    house.settle(incident)
    assert not [text for text in house.slack.texts(channel) if f"Update from Dee · It is {SECRET}" in text]
    assert not [one for one in said if one not in house.slack.texts(channel)], "the rest stays, though out of date"
    assert not Effect.objects.filter(incident=incident, thing__startswith="told", state="failed").exists()


def test_what_turns_private_is_gone_in_public(house: House, incident: Incident) -> None:
    house.retype(incident, "security")
    assert not public(house)
    incident.refresh_from_db()
    assert not Effect.objects.filter(incident=incident, state="failed").exists()
    before = len(house.writes())
    house.settle(incident)
    assert len(house.writes()) == before


def test_what_cannot_even_be_deleted_is_said(house: House, incident: Incident) -> None:
    house.slack.faults.add("error", method="chat.delete", error="cant_delete_message")
    incident = house.retype(incident, "security")
    assert public(house)
    failed = incident.events.filter(kind="failed").values_list("text", flat=True)
    assert any("Ask a workspace admin to delete it." in one for one in failed)

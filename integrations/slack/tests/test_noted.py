"""What the audit log records about Slack: who read a private incident there, and nothing about public ones."""

from __future__ import annotations

from audit.models import Entry
from integrations.slack.tests.door import Door


def test_a_command_that_reads_a_private_incident_is_noted_once(door: Door) -> None:
    incident = door.declared("someone has our keys", type="security")
    channel = door.house.channel(incident)
    for typed in ("status", "timeline"):
        assert door.command("ann", typed, channel=channel)
    read = Entry.objects.get(kind="read")
    assert (read.by, read.about, read.door) == (door.house.person("ann").pk, incident.codename, "slack")
    assert read.address == ""


def test_of_a_public_one_and_by_who_may_not_see_it_nothing_is(door: Door) -> None:
    channel = door.house.channel(door.declared())
    door.command("ann", "status", channel=channel)
    secret = door.declared("someone has our keys", type="security")
    door.command("out", f"status {secret.codename}")
    assert not Entry.objects.filter(kind="read").exists()

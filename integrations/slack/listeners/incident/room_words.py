"""What whoever opens an incident is told of its channel."""

from __future__ import annotations

from incidents.models import Incident, Person
from integrations.slack.interaction import carrying_out


def opens(incident: Incident, *, by: Person) -> str:
    """Say that its channel opens in a moment, and whether that brings ``by`` into it; or that nothing happens now."""
    if nothing_happens := carrying_out.none_does():
        return nothing_happens
    room = "private channel" if incident.private else "channel"
    if not by.not_invited:
        return f"Its {room} opens in a moment, and you are invited to it."
    whom = by.kept_out[:1].lower() + by.kept_out[1:]
    return f"Its {room} opens in a moment. The app can't invite you, nor other {whom}; ask someone in it to."

"""What the person who declares an incident is told about its channel."""

from __future__ import annotations

from incidents.models import Incident, Person
from integrations.slack.interaction import carrying_out


def opens(incident: Incident, *, by: Person) -> str:
    """Say that its channel opens shortly, and whether ``by`` is invited; or that nothing is being carried out."""
    if nothing_happens := carrying_out.none_does():
        return nothing_happens
    room = "private channel" if incident.private else "channel"
    if not by.not_invited:
        return f"Its {room} opens in a moment, and you are invited to it."
    why = f"The app can't invite you, because it can't invite {by.kept_out.lower()}."
    return f"Its {room} opens in a moment. {why} Ask someone in it to add you."

"""The opaque marks by which our messages are found again; they tell others nothing."""

from __future__ import annotations

import json
from typing import Final

from django.utils.crypto import salted_hmac

from incidents.models import Incident
from workflows.planning.actions import Action

# The parts of a card by which a reader would call two the same.
SAID: Final = ("kind", "title", "text", "fields", "sections")


def own(incident: Incident, action: Action) -> str:
    """Return the mark of what an effect makes: unique to it, but the same if it is planned again.

    It depends on the words, because a restore may let another effect get the same key.
    """
    return _opaque(incident, action.key, action.spec)


def shared(incident: Incident, action: Action) -> str:
    """Return the mark that a message shares with any other in its place.

    After a restore entries have other numbers, which their buttons carry, and a message that exists once may have been
    made with other words.
    """
    if not action.thing.startswith("told/"):
        return of_one(incident, action.thing)
    card: dict[str, object] = action.spec["card"]
    return _opaque(incident, "told", action.room, *(card.get(part) for part in SAID))


def of_one(incident: Incident, thing: str) -> str:
    """Return the shared mark of a message that exists once."""
    return _opaque(incident, thing)


def _opaque(incident: Incident, *of: object) -> str:
    said = json.dumps((incident.codename, incident.declared_at.isoformat(), *of), sort_keys=True, default=str)
    return salted_hmac("workflows.mark", said, algorithm="sha256").hexdigest()[:24]

"""Audit entries from code that knows people and incidents. What happens to incidents is on timelines."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

import audit
from incidents.models import Incident, Person


def note(kind: str, *, by: Person | None, about: str = "", **data: Any) -> None:
    """Record that someone did something; without ``by`` it was a terminal, or Firekind itself."""
    audit.note(kind, by=by.pk if by else None, by_name=by.name if by else "", about=about, data=data)


def once(key: str, kind: str, *, by: Person | None, about: str = "", **data: Any) -> None:
    """Record something, unless it was already recorded under this key."""
    audit.once(key, kind, by=by.pk if by else None, by_name=by.name if by else "", about=about, data=data)


def read(incident: Incident, *, by: Person | None) -> None:
    """Record that someone opened a private incident, at most once an hour. Public incidents are not recorded."""
    if incident.private:
        at = timezone.now()
        who = by.pk if by else "terminal"
        once(f"read:{who}:{incident.pk}:{at:%Y-%m-%dT%H}", "read", by=by, about=incident.codename)

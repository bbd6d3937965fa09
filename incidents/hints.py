"""Notify listeners after a commit that an incident has new facts. A hint: losing one loses nothing."""

from __future__ import annotations

from collections.abc import Callable

from django.db import transaction

from incidents.models import Incident

listeners: list[Callable[[int], None]] = []


def tell(incident: Incident) -> None:
    """Hint every listener with the incident's id once the caller's transaction has committed."""
    pk = incident.pk
    for listener in listeners:
        transaction.on_commit(lambda listener=listener: listener(pk), robust=True)  # type: ignore[misc]  # the default argument binds the loop's value

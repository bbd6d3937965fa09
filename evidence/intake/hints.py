"""Listeners that are told, after a commit, that evidence waits to be read; and whether anything reads it.

A hint may be lost.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from django.utils import timezone

from evidence.models import Evidence
from incidents import hints
from incidents.hints import Listener

listeners: list[Listener] = []
# Each returns since when no process reads, at a moment; None while one does. Registered by code that knows processes.
absences: list[Callable[[datetime], datetime | None]] = []


def tell(evidence: Evidence) -> None:
    """Send every listener the evidence's id once the caller's transaction has committed."""
    hints.after_commit(listeners, evidence.pk)


def unread_since() -> datetime | None:
    """Return since when no process reads evidence; None while one does, or if that is unknown."""
    at = timezone.now()
    return next((since for one in absences if (since := one(at)) is not None), None)

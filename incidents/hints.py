"""Notify listeners after a commit that an incident has new facts. A hint: losing one loses nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial, update_wrapper

from django.db import transaction

from incidents.models import Incident

Listener = Callable[[int], None]

listeners: list[Listener] = []
again: list[Listener] = []


def tell(incident: Incident) -> None:
    """Hint every listener that an incident has a new revision, once the caller's transaction has committed."""
    after_commit(listeners, incident.pk)


def tell_again(incident: Incident) -> None:
    """Hint that something an incident depends on has changed, though none of its own facts, after the commit."""
    after_commit(again, incident.pk)


def after_commit(told: Iterable[Listener], pk: int) -> None:
    """Call each listener with a row's id once the caller's transaction has committed."""
    for listener in told:
        # Django names the function in its log when it fails, and a partial has no name of its own.
        transaction.on_commit(update_wrapper(partial(listener, pk), listener), robust=True)

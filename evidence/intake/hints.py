"""Who is told, after a commit, that evidence waits to be read. A hint: losing one loses nothing."""

from __future__ import annotations

from collections.abc import Callable

from django.db import transaction

from evidence.models import Evidence

listeners: list[Callable[[int], None]] = []


def tell(evidence: Evidence) -> None:
    """Hint every listener with the evidence's id once the caller's transaction has committed."""
    pk = evidence.pk
    for listener in listeners:
        transaction.on_commit(lambda listener=listener: listener(pk), robust=True)  # type: ignore[misc]  # the default argument binds the loop's value

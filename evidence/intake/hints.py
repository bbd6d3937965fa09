"""Who is told, after a commit, that evidence waits to be read. A hint: losing one loses nothing."""

from __future__ import annotations

from evidence.models import Evidence
from incidents import hints
from incidents.hints import Listener

listeners: list[Listener] = []


def tell(evidence: Evidence) -> None:
    """Hint every listener with the evidence's id once the caller's transaction has committed."""
    hints.after_commit(listeners, evidence.pk)

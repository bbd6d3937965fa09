"""Check again, before an answer is shown, that its reader may still see the incidents in it.

Preparing an answer may take long, and access may end in the meantime. Verbs check again under the incident's lock. An
answer that is only read takes no lock: an export may take a minute and a page may wait for a shared reading, and either
may hold what was written after the incident had closed to its reader.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from incidents import visibility
from incidents.models import Incident, Person


@dataclass(slots=True)
class FoundForAnswer:
    """The incidents, by key, that were found for this viewer, and those of them that a verb locked for them since."""

    found: set[int] = field(default_factory=set)
    held: set[int] = field(default_factory=set)

    def is_seen(self, *, by: Person) -> bool:
        """Return whether someone may see all of them now."""
        return _are_seen(self.found, by=by)

    def is_seen_or_held(self, *, by: Person) -> bool:
        """Return whether someone may see all of them now, except those that a verb holds in the same transaction.

        Only they themselves can have ended their access to those, and they may be told about that.
        """
        return _are_seen(self.found - self.held, by=by)


_now: ContextVar[FoundForAnswer | None] = ContextVar("now", default=None)


@contextmanager
def finding() -> Iterator[FoundForAnswer]:
    """Collect the incidents that are found for this viewer within the block."""
    made = FoundForAnswer()
    token = _now.set(made)
    try:
        yield made
    finally:
        _now.reset(token)


def note(incident: Incident) -> None:
    """Record that this viewer has found the incident."""
    if (now := _now.get()) is not None:
        now.found.add(incident.pk)


def note_held(incident: Incident) -> None:
    """Record that the incident is locked, and that this viewer may see it."""
    if (now := _now.get()) is not None:
        now.held.add(incident.pk)


def _are_seen(incidents: set[int], *, by: Person) -> bool:
    return all(visibility.who_may_see(one, among=[by.pk]) for one in incidents)

"""What was found for someone is asked again before it is shown: making an answer may take long, and access end by then.

Verbs ask again under the incident's lock. An answer that is only read takes none: an export is made for a minute, a
page waits for a reading that others share, and either may hold what was written after it had closed.
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
    """The incidents, by key, that were found for whoever asks, and those of them that a verb held for them since."""

    found: set[int] = field(default_factory=set)
    held: set[int] = field(default_factory=set)

    def is_seen(self, *, by: Person) -> bool:
        """Return whether someone may see all of them now."""
        return _are_seen(self.found, by=by)

    def is_seen_or_held(self, *, by: Person) -> bool:
        """Return whether someone may see all of them now but those that are held still, as in one transaction.

        From nobody but themselves was access to those taken, and they may be told of that.
        """
        return _are_seen(self.found - self.held, by=by)


_now: ContextVar[FoundForAnswer | None] = ContextVar("now", default=None)


@contextmanager
def finding() -> Iterator[FoundForAnswer]:
    """Gather what is found for whoever asks until the block ends."""
    made = FoundForAnswer()
    token = _now.set(made)
    try:
        yield made
    finally:
        _now.reset(token)


def note(incident: Incident) -> None:
    """Note that an incident was found for whoever asks."""
    if (now := _now.get()) is not None:
        now.found.add(incident.pk)


def note_held(incident: Incident) -> None:
    """Note that an incident is held, and that whoever asks may see it."""
    if (now := _now.get()) is not None:
        now.held.add(incident.pk)


def _are_seen(incidents: set[int], *, by: Person) -> bool:
    return all(visibility.who_may_see(one, among=[by.pk]) for one in incidents)

"""What was found for someone is asked again before it is shown: making an answer may take long, and access end by then.

Verbs ask again under the incident's lock. An answer that is only read takes none: an export is made for a minute, a
page waits for a reading that others share, and either may hold what was written after it had closed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from incidents import visibility
from incidents.models import Incident, Person

_found: ContextVar[set[int] | None] = ContextVar("found", default=None)


@contextmanager
def finding() -> Iterator[set[int]]:
    """Give the incidents, by key, that are found for whoever asks until the block ends."""
    found: set[int] = set()
    token = _found.set(found)
    try:
        yield found
    finally:
        _found.reset(token)


def note(incident: Incident) -> None:
    """Note that an incident was found for whoever asks."""
    found = _found.get()
    if found is not None:
        found.add(incident.pk)


def by(person: Person, incidents: Collection[int]) -> bool:
    """Return whether someone may see all of these incidents now."""
    return all(visibility.who_may_see(one, among=[person.pk]) for one in incidents)

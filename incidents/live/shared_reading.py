"""What many readers want of one incident at the same moment is read once, for all who wait for it.

When something happens, everyone who has the incident open asks for the same things at once. A request that arrives
during a reading waits for the next reading, which one of those waiting makes for all of them. So every reading starts
after it was requested, and none is cached: no one receives something read before they asked.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, Final, TypeVar, cast

from django.db import connection
from django.utils import timezone

from incidents.models import Incident, Person

Read = TypeVar("Read")


class _Reading:
    """One reading and its result once it has ended; a failed one has no result for those who joined."""

    def __init__(self, *, after: _Reading | None = None) -> None:
        self.after = after
        self.value: object = None
        self.succeeded = False
        self.joined = 1
        self._ended = threading.Event()

    def make(self, read: Callable[[], Read]) -> Read:
        """Read, and give the result to those who joined."""
        try:
            self.value = made = read()
            self.succeeded = True
            return made
        finally:
            self._ended.set()

    def wait(self) -> None:
        """Wait until it has ended."""
        self._ended.wait()


class SharedReadings:
    """The current readings, at most one for each key, and those that wait for them to end."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: dict[Hashable, _Reading] = {}
        self._next: dict[Hashable, _Reading] = {}

    def of(self, key: Hashable, read: Callable[[], Read]) -> Read:
        """Return what ``read`` returns, or what another caller's reading returned that began after this was requested.

        An error is raised only in the caller that ran the reading; those who joined it read for themselves.
        """
        reading, is_ours = self._join(key)
        if is_ours:
            return self._make(key, reading, read)
        reading.wait()
        return cast("Read", reading.value) if reading.succeeded else read()

    def waiting(self, key: Hashable) -> int:
        """Return how many wait for a reading that has not begun."""
        with self._lock:
            return self._next[key].joined if key in self._next else 0

    def _join(self, key: Hashable) -> tuple[_Reading, bool]:
        """Join the reading that has not begun, or create one; return it with whether it is ours to make."""
        with self._lock:
            if waiting := self._next.get(key):
                waiting.joined += 1
                return waiting, False
            before = self._under_way.get(key)
            ours = _Reading(after=before)
            (self._next if before else self._under_way)[key] = ours
            return ours, True

    def _make(self, key: Hashable, ours: _Reading, read: Callable[[], Read]) -> Read:
        if ours.after is not None:
            ours.after.wait()
            ours.after = None
            with self._lock:  # from here on no one can join
                del self._next[key]
                self._under_way[key] = ours
        try:
            return ours.make(read)
        finally:
            with self._lock:
                if self._under_way.get(key) is ours:
                    del self._under_way[key]


_readings: Final = SharedReadings()


def of(incident: Incident, what: str, read: Callable[[], Read]) -> Read:
    """Read something about an incident that depends only on the incident, the reader's time zone and the moment.

    ``read`` must return complete values that no one modifies. It is shared only among those who found the same state of
    the incident. Inside a transaction, which may see what others cannot, nothing is shared.
    """
    if connection.in_atomic_block:
        return read()
    return _readings.of(key_of(incident, what), read)


def key_of(incident: Incident, what: str) -> Hashable:
    """Return the key shared by those who may share a reading.

    They found the same values in the incident's row, and in the rows of the people read with it.
    """
    rows: list[Incident | Person | None] = [incident, incident.lead, incident.declared_by]
    found = repr([_columns(row) for row in rows if row is not None])
    return what, timezone.get_current_timezone_name(), found


def _columns(row: Incident | Person) -> dict[str, Any]:
    return {name: value for name, value in row.__dict__.items() if not name.startswith("_")}

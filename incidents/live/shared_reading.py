"""What many read of one incident in the same moment is read once for all who wait for it.

When something happens, everyone who has the incident open asks for the same things at once. Whoever asks while those
are being read waits for the next reading, which one of those who wait makes for all of them. So every reading begins
after it was asked for, and none is kept: nobody is handed what was read before they came.
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
    """One reading: what came of it, once it has ended; a failed one has nothing for those who joined."""

    def __init__(self, *, after: _Reading | None = None) -> None:
        self.after = after
        self.value: object = None
        self.succeeded = False
        self.joined = 1
        self._ended = threading.Event()

    def make(self, read: Callable[[], Read]) -> Read:
        """Read, and let those who joined have it."""
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
    """The readings under way, at most one of each key, and those that wait for them to end."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: dict[Hashable, _Reading] = {}
        self._next: dict[Hashable, _Reading] = {}

    def of(self, key: Hashable, read: Callable[[], Read]) -> Read:
        """Return what ``read`` returns, or what someone else read by it who began after this was asked for.

        An error is raised to whoever met it; those who had joined read for themselves.
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
        """Join the reading that has not begun, or else begin one; tell whether it is ours to make."""
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
            with self._lock:  # from here on nobody joins
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
    """Read something of an incident that depends on nothing but it, its reader's time zone and the moment.

    ``read`` gives values that are complete and that nobody changes. It is shared only with those who found the
    incident as it is here. Inside a transaction, which may see what others cannot, nothing is shared.
    """
    if connection.in_atomic_block:
        return read()
    return _readings.of(key_of(incident, what), read)


def key_of(incident: Incident, what: str) -> Hashable:
    """Return what those have in common who may share a reading.

    They found the same in the incident's row, and in those of the people that are read along with it.
    """
    rows: list[Incident | Person | None] = [incident, incident.lead, incident.declared_by]
    found = repr([_columns(row) for row in rows if row is not None])
    return what, timezone.get_current_timezone_name(), found


def _columns(row: Incident | Person) -> dict[str, Any]:
    return {name: value for name, value in row.__dict__.items() if not name.startswith("_")}

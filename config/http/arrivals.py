"""Request bodies being received: how many at once, how many bytes together, and how long each may take."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

PIECE_S: Final = 10.0  # until the next piece of a body
GRACE_S: Final = 30.0  # until the end of the body; longer only for senders that keep at least this rate:
SLOWEST: Final = 16 * 1024  # bytes a second, which even the slowest networks manage


class NoRoom(Exception):
    """Too much is being received already."""


class Arrival:
    """One body: how much of it has arrived, and how long to wait for the rest."""

    def __init__(self) -> None:
        self.size = 0
        self.given_up = False
        self.patience: asyncio.Timeout | None = None
        self._began = asyncio.get_running_loop().time()

    def until(self) -> float:
        """Return the loop's time by which the next piece must arrive."""
        if self.given_up:
            return 0.0
        now = asyncio.get_running_loop().time()
        return min(now + PIECE_S, self._began + GRACE_S + self.size / SLOWEST)

    def give_up(self) -> None:
        """Stop waiting for the rest of it."""
        self.given_up = True
        if self.patience is not None:
            self.patience.reschedule(0.0)


class Arrivals:
    """The bodies of one kind in one event loop: those still arriving, and the bytes of all that are held.

    If bodies give way, a new one ends the one that has been arriving longest: bodies of ordinary requests arrive at
    once, so no one can shut others out by sending many slowly. If they do not, the new one is refused.
    """

    def __init__(self, *, most: int, most_bytes: int, gives_way: bool) -> None:
        self._most, self._most_bytes, self._gives_way = most, most_bytes, gives_way
        self._arriving: dict[Arrival, None] = {}  # in the order they began
        self._held = 0

    @contextmanager
    def one(self) -> Iterator[Arrival]:
        """Count one more body until the block ends. Raises ``NoRoom``."""
        while len(self._arriving) >= self._most:
            self._end_another(None)
        arrival = Arrival()
        self._arriving[arrival] = None
        try:
            yield arrival
        finally:
            self._arriving.pop(arrival, None)
            self._held -= arrival.size

    def came(self, arrival: Arrival, size: int) -> None:
        """Count a received piece of a body. Raises ``NoRoom``."""
        if arrival.given_up:
            raise NoRoom
        while self._held + size > self._most_bytes:
            self._end_another(arrival)
        arrival.size += size
        self._held += size

    def complete(self, arrival: Arrival) -> None:
        """Count it as arrived: it no longer gives way to others, and its bytes are held until its block ends."""
        self._arriving.pop(arrival, None)

    def _end_another(self, arrival: Arrival | None) -> None:
        longest = next((one for one in self._arriving if one is not arrival), None)
        if longest is None or not self._gives_way:
            raise NoRoom
        self.complete(longest)
        self._held -= longest.size
        longest.size = 0
        longest.give_up()

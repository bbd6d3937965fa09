"""Bodies on their way in: how many at once, how much of them together, and how long each may take."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

PIECE_S: Final = 10.0  # until the next piece of a body
GRACE_S: Final = 30.0  # until the last, and longer only for those who sent something all the while:
SLOWEST: Final = 16 * 1024  # bytes a second, which the slowest of networks bring


class NoRoom(Exception):
    """Too much is on its way in already."""


class Arrival:
    """One body: how much of it is here, and until when the rest is waited for."""

    def __init__(self) -> None:
        self.size = 0
        self.given_up = False
        self.patience: asyncio.Timeout | None = None
        self._began = asyncio.get_running_loop().time()

    def until(self) -> float:
        """Return the loop's time by which the next piece must have come."""
        if self.given_up:
            return 0.0
        now = asyncio.get_running_loop().time()
        return min(now + PIECE_S, self._began + GRACE_S + self.size / SLOWEST)

    def give_up(self) -> None:
        """Wait for no more of it."""
        self.given_up = True
        if self.patience is not None:
            self.patience.reschedule(0.0)


class Arrivals:
    """The bodies of one kind in one event loop: those that are still arriving, and the bytes of all that are held.

    Where bodies give way, one more ends the one that has been arriving longest: bodies of ordinary requests are here
    at once, and nobody can shut others out by sending many slowly. Where they do not, one more is refused.
    """

    def __init__(self, *, most: int, most_bytes: int, gives_way: bool) -> None:
        self._most, self._most_bytes, self._gives_way = most, most_bytes, gives_way
        self._arriving: dict[Arrival, None] = {}  # in the order in which they began
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
        """Count what came of a body. Raises ``NoRoom``."""
        if arrival.given_up:
            raise NoRoom
        while self._held + size > self._most_bytes:
            self._end_another(arrival)
        arrival.size += size
        self._held += size

    def complete(self, arrival: Arrival) -> None:
        """Count it as here: it ends for nobody any more, and its bytes are held until its block ends."""
        self._arriving.pop(arrival, None)

    def _end_another(self, arrival: Arrival | None) -> None:
        longest = next((one for one in self._arriving if one is not arrival), None)
        if longest is None or not self._gives_way:
            raise NoRoom
        self.complete(longest)
        self._held -= longest.size
        longest.size = 0
        longest.give_up()

"""A priority semaphore for recording: longest chain first, a few at a time."""

from __future__ import annotations

import heapq
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from incidents.outages import spare_connections


class Turns:
    """Lets ``at_once`` threads into a block, the lowest rank first among those waiting.

    Results that arrive together are recorded one after the other anyway, because Python runs one thread at a time.
    Without an order they all finish last; with one, the chain that others wait for continues at once.
    """

    def __init__(self, at_once: int) -> None:
        self._free = at_once  # none while anyone waits: a turn that ends is handed on
        self._waiting: list[tuple[int, int, threading.Event]] = []
        self._arrivals = count()
        self._changing = threading.Lock()

    @contextmanager
    def turn(self, rank: int) -> Iterator[None]:
        """Wait for a turn and release it at the end of the block. Waiting holds no database connection."""
        spare_connections.give_back()
        self._take(rank)
        try:
            yield
        finally:
            self._hand_on()

    def _take(self, rank: int) -> None:
        with self._changing:
            if self._free:
                self._free -= 1
                return
            called = threading.Event()
            heapq.heappush(self._waiting, (rank, next(self._arrivals), called))
        called.wait()

    def _hand_on(self) -> None:
        """Wake only the one who is next: with dozens waiting, waking all of them took half of a worker's time."""
        with self._changing:
            if self._waiting:
                heapq.heappop(self._waiting)[-1].set()
            else:
                self._free += 1

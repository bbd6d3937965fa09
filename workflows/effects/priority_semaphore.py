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
        self._free = at_once
        self._waiting: list[tuple[int, int]] = []
        self._arrivals = count()
        self._changed = threading.Condition()

    @contextmanager
    def turn(self, rank: int) -> Iterator[None]:
        """Wait for a turn and release it at the end of the block. Waiting holds no database connection."""
        spare_connections.give_back()
        me = (rank, next(self._arrivals))
        with self._changed:
            heapq.heappush(self._waiting, me)
            self._changed.wait_for(lambda: self._free > 0 and self._waiting[0] == me)
            heapq.heappop(self._waiting)
            self._free -= 1
            self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._free += 1
                self._changed.notify_all()

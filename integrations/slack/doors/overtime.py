"""Requests that no thread could begin in time: they are told so at that moment, and not done later."""

from __future__ import annotations

import heapq
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from itertools import count
from typing import Any

log = logging.getLogger(__name__)


class Overtime:
    """Waits, in one thread, for the time of each request to end, and answers those that have not begun."""

    def __init__(self) -> None:
        self._waiting: list[tuple[float, int, Future[Any], Callable[[], object]]] = []
        self._arrivals = count()
        self._changed = threading.Condition()
        self._over = False
        threading.Thread(target=self._run, name="overtime", daemon=True).start()

    def note(self, work: Future[Any], *, ends_at: float, otherwise: Callable[[], object]) -> None:
        """Call ``otherwise`` at ``ends_at`` if the work has not begun; then it never is.

        ``ends_at`` is a time of `time.monotonic`.
        """
        with self._changed:
            heapq.heappush(self._waiting, (ends_at, next(self._arrivals), work, otherwise))
            self._changed.notify()

    def end(self) -> None:
        """Answer no one any more."""
        with self._changed:
            self._over = True
            self._changed.notify()

    def _run(self) -> None:
        while (due := self._next()) is not None:
            work, otherwise = due
            if work.cancel():
                try:
                    otherwise()
                except Exception:  # the next one still gets an answer
                    log.exception("someone could not be told that there was no time for their request")

    def _next(self) -> tuple[Future[Any], Callable[[], object]] | None:
        """Wait for the next request whose time ends; return None once this is over."""
        with self._changed:
            while not self._over:
                while self._waiting and self._waiting[0][2].done():
                    heapq.heappop(self._waiting)
                wait_s = self._waiting[0][0] - time.monotonic() if self._waiting else None
                if wait_s is not None and wait_s <= 0:
                    return heapq.heappop(self._waiting)[2:]
                self._changed.wait(wait_s)
        return None

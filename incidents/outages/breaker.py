"""A circuit breaker: what did not answer is not waited for again until it does."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime


class Breaker:
    """Whether something outside this process answers: closed while it does, open since it did not.

    While it is open one caller at most every ``probe_s`` finds out whether it answers again (*half-open*).
    """

    def __init__(self, *, probe_s: float) -> None:
        self._probe_s = probe_s
        self._lock = threading.Lock()
        self._probe_at = 0.0
        self._open_since: datetime | None = None

    @property
    def open_since(self) -> datetime | None:
        """Since when it does not answer; None while it does."""
        return self._open_since

    def probes(self) -> bool:
        """Return whether it is the caller who is to find out now; whoever is told so reports what came of it."""
        with self._lock:
            if self._open_since is None or time.monotonic() < self._probe_at:
                return False
            self._probe_at = time.monotonic() + self._probe_s
            return True

    def worked(self) -> None:
        """Report that it answered."""
        with self._lock:
            self._open_since = None

    def failed(self) -> bool:
        """Report that it did not answer; return whether that is news."""
        with self._lock:
            self._probe_at = time.monotonic() + self._probe_s
            is_news = self._open_since is None
            self._open_since = self._open_since or datetime.now(UTC)
            return is_news

"""A circuit breaker: callers do not wait for something that did not respond until it responds again."""

from __future__ import annotations

import math
import threading
import time
from datetime import UTC, datetime


class Breaker:
    """Whether something outside this process responds: closed while it does, open once it did not.

    While open, at most one caller every ``probe_s`` tests whether it responds again (*half-open*).
    """

    def __init__(self, *, probe_s: float) -> None:
        self._probe_s = probe_s
        self._lock = threading.Lock()
        self._probe_at = 0.0
        self._open_since: datetime | None = None
        self._closed_at = -math.inf

    @property
    def open_since(self) -> datetime | None:
        """When it stopped responding; None while it responds."""
        return self._open_since

    @property
    def closed_for_s(self) -> float:
        """For how long it has responded again; ``math.inf`` if it always did."""
        return time.monotonic() - self._closed_at

    def probes(self) -> bool:
        """Return whether this caller should test it now; a caller that is told so must report the result."""
        with self._lock:
            if self._open_since is None or time.monotonic() < self._probe_at:
                return False
            self._probe_at = time.monotonic() + self._probe_s
            return True

    def worked(self) -> None:
        """Report that it responded."""
        with self._lock:
            if self._open_since is not None:
                self._closed_at = time.monotonic()
            self._open_since = None

    def failed(self) -> bool:
        """Report that it did not respond; return whether that is news."""
        with self._lock:
            self._probe_at = time.monotonic() + self._probe_s
            is_news = self._open_since is None
            self._open_since = self._open_since or datetime.now(UTC)
            return is_news

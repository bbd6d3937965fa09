"""Rate limits as PagerDuty counts them: per key and minute, and for some operations separately. Off by default."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

PER_MINUTE: Final = 960
EVENTS_PER_MINUTE: Final = 120
OPERATIONS: Final = {"POST /incidents": 60, "GET /oncalls": 240}
"""Requests that PagerDuty limits on their own; it does not say how many, these are ours."""


@dataclass(slots=True)
class Window:
    """A minute, and the requests counted in it."""

    began_at: float
    used: int = 0


@dataclass(slots=True)
class Rates:
    """Counts requests per minute. https://developer.pagerduty.com/docs/rest-api-rate-limits"""

    enabled: bool = False
    per_minute: int = PER_MINUTE
    events_per_minute: int = EVENTS_PER_MINUTE
    operations: dict[str, int] = field(default_factory=lambda: dict(OPERATIONS))
    _windows: dict[str, Window] = field(default_factory=dict)

    def allows(self, key: str, limit: int, at: float) -> bool:
        """Count one request and return whether it is within the limit."""
        window = self._window(key, at)
        if self.enabled and window.used >= limit:
            return False
        window.used += 1
        return True

    def headers(self, at: float) -> dict[str, str]:
        """Return the rate-limit headers for the key's current minute."""
        window = self._window("", at)
        return {
            "ratelimit-limit": str(self.per_minute),
            "ratelimit-remaining": str(max(0, self.per_minute - window.used)),
            "ratelimit-reset": str(max(1, math.ceil(window.began_at + 60 - at))),
        }

    def _window(self, key: str, at: float) -> Window:
        window = self._windows.setdefault(key, Window(at))
        if at >= window.began_at + 60:
            window.began_at, window.used = at, 0
        return window

    def clear(self) -> None:
        """Reset all counts."""
        self._windows.clear()

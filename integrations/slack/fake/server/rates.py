"""Rate limits as Slack counts them: per method and workspace, and for posts also per channel. Off by default."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from integrations.slack.protocol.limits import PER_MINUTE, POSTS_PER_SECOND
from integrations.slack.protocol.rules import RULES


@dataclass(slots=True)
class Bucket:
    """Tokens that refill steadily up to a maximum."""

    level: float
    at: float


@dataclass(slots=True)
class Rates:
    """Counts calls. A minute's quota may be used in one burst; a channel accepts one post a second."""

    enabled: bool = False
    _buckets: dict[str, Bucket] = field(default_factory=dict)

    def wait_s(self, method: str, channel: str, at: float) -> int:
        """Use one call's quota and return 0, or return the whole seconds to wait (`Retry-After`)."""
        if not self.enabled:
            return 0
        per_minute = PER_MINUTE[RULES[method].tier]
        wait = self._take(method, per_minute / 60, per_minute, at)
        if not wait and method == "chat.postMessage":
            wait = self._take(f"{method} {channel}", POSTS_PER_SECOND, POSTS_PER_SECOND, at)
        return wait

    def _take(self, key: str, per_second: float, ceiling: float, at: float) -> int:
        bucket = self._buckets.setdefault(key, Bucket(ceiling, at))
        bucket.level = min(ceiling, bucket.level + (at - bucket.at) * per_second)
        bucket.at = at
        if bucket.level >= 1:
            bucket.level -= 1
            return 0
        return max(1, math.ceil((1 - bucket.level) / per_second))

    def clear(self) -> None:
        """Reset all counts."""
        self._buckets.clear()

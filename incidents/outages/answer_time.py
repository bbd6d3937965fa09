"""The time by which a caller that waits no longer has to be answered, however slow the database or a vendor is."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

SLACK_S: Final = 2.3  # from a request's arrival; Slack waits three seconds, and the answer has to reach it

_ends_at: ContextVar[float] = ContextVar("answered by", default=math.inf)


@contextmanager
def until(ends_at: float) -> Iterator[None]:
    """Wait for nothing in the block beyond ``ends_at``, a time of `time.monotonic`; ``math.inf`` sets no limit."""
    token = _ends_at.set(ends_at)
    try:
        yield
    finally:
        _ends_at.reset(token)


def left_s() -> float:
    """Return how many seconds are left: 0 if the time is up, ``math.inf`` if there is no limit."""
    ends_at = _ends_at.get()
    return ends_at if ends_at == math.inf else max(0.0, ends_at - time.monotonic())

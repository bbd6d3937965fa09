"""Until when somebody has to be answered who does not wait longer, however slow what is asked for it may be."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

SLACK_S: Final = 2.3  # from a request's arrival; Slack waits three seconds, and the answer has its way to go

_ends_at: ContextVar[float] = ContextVar("answered by", default=math.inf)


@contextmanager
def until(ends_at: float) -> Iterator[None]:
    """Have nothing waited for in the block past a moment of `time.monotonic`; ``math.inf`` for no such moment."""
    token = _ends_at.set(ends_at)
    try:
        yield
    finally:
        _ends_at.reset(token)


def left_s() -> float:
    """Return how many seconds are left; none when it is late, any number where nobody waits."""
    ends_at = _ends_at.get()
    return ends_at if ends_at == math.inf else max(0.0, ends_at - time.monotonic())

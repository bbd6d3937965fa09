"""Wait by polling, never with a fixed sleep."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from stack.errors import StackError

Found = TypeVar("Found")
EVERY_S = 0.02


def until(ask: Callable[[], Found | None], *, what: str, timeout_s: float = 20) -> Found:
    """Poll until the result is truthy and return it. Raises StackError saying that `what` did not come."""
    deadline = time.monotonic() + timeout_s
    while not (found := ask()):
        if time.monotonic() > deadline:
            raise StackError(f"After {timeout_s:g} s of waiting: {what}.")
        time.sleep(EVERY_S)
    return found

"""Waiting by asking again and again, never by a fixed sleep."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from stack.errors import StackError

Found = TypeVar("Found")
EVERY_S = 0.02


def until(ask: Callable[[], Found | None], *, what: str, timeout_s: float = 20) -> Found:
    """Ask until the answer is truthy and give it. Raises StackError that names `what` did not come."""
    deadline = time.monotonic() + timeout_s
    while not (found := ask()):
        if time.monotonic() > deadline:
            raise StackError(f"After {timeout_s:g} s of waiting: {what}.")
        time.sleep(EVERY_S)
    return found

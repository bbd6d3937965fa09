"""Whether this process was asked to stop: it ends what it has begun, and begins nothing else."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from typing import TypeVar

Thing = TypeVar("Thing")

_asked = threading.Event()


def ask() -> None:
    """Note that the process was asked to stop."""
    _asked.set()


def is_asked() -> bool:
    """Return whether the process was asked to stop."""
    return _asked.is_set()


def until_asked(things: Iterable[Thing]) -> Iterator[Thing]:
    """Yield things until the process is asked to stop; what is left waits for its next turn, in any process."""
    left = iter(things)
    while not is_asked():
        try:
            yield next(left)
        except StopIteration:
            return

"""Which active incidents have an unacknowledged page; the app that pages registers how to read that."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

Read = Callable[[Collection[int]], set[int]]
_readers: Final[list[Read]] = []


def register(read: Read) -> None:
    """Register a function that returns which of some incidents, by key, have such a page, in one query for all."""
    _readers.append(read)


def among(incidents: Collection[int]) -> set[int]:
    """Return which of some active incidents have an unacknowledged page."""
    return set().union(*(read(incidents) for read in _readers)) if incidents else set()

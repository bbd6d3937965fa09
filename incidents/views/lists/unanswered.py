"""Which active incidents have a page that nobody has acknowledged; whoever pages registers how that is read."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

Read = Callable[[Collection[int]], set[int]]
_readers: Final[list[Read]] = []


def register(read: Read) -> None:
    """Let a reader tell of some incidents, by their keys, which have such a page; one query for all of them."""
    _readers.append(read)


def among(incidents: Collection[int]) -> set[int]:
    """Return those of some active incidents that have a page that nobody has acknowledged."""
    return set().union(*(read(incidents) for read in _readers)) if incidents else set()

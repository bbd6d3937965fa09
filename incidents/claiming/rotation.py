"""Whose turn it is, where only a few of many can be looked at each time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TypeVar

Waiting = TypeVar("Waiting")


def in_turn(waiting: Sequence[Waiting], *, at_once: int, every_s: float, at: datetime) -> list[Waiting]:
    """Return those whose turn it is at the look of a moment, and others at the next: all of them where there are few.

    ``waiting`` is in an order that stays.
    """
    first = int(at.timestamp() / every_s) * at_once
    return [waiting[(first + n) % len(waiting)] for n in range(min(at_once, len(waiting)))]

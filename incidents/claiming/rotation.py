"""Whose turn it is, where only a few of many can be looked at each time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from typing import TypeVar

Waiting = TypeVar("Waiting")


def in_turn(waiting: Sequence[Waiting], *, at_once: int, every_s: float, at: datetime) -> list[Waiting]:
    """Return those whose turn it is at the look of a moment, and others at the next: all of them where there are few.

    ``waiting`` is in an order that stays. Whoever is first is another each time around, so that one at which looks end
    early keeps no others from theirs.
    """
    looks = max(math.ceil(len(waiting) / at_once), 1)  # that it takes to come around
    around, look = divmod(int(at.timestamp() / every_s), looks)
    first = around + look * at_once
    return [waiting[(first + n) % len(waiting)] for n in range(min(at_once, len(waiting)))]

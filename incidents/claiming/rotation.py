"""Take turns, where only a few of many can be looked at each time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from typing import TypeVar

Waiting = TypeVar("Waiting")


def in_turn(waiting: Sequence[Waiting], *, at_once: int, every_s: float, at: datetime) -> list[Waiting]:
    """Return those whose turn it is at this moment's look, and others at the next; all of them if there are few.

    ``waiting`` keeps its order between looks. Each round starts at a different one, so that one that makes every look
    end early does not keep the others from their turn.
    """
    looks = max(math.ceil(len(waiting) / at_once), 1)  # looks per round
    around, look = divmod(int(at.timestamp() / every_s), looks)
    first = around + look * at_once
    return [waiting[(first + n) % len(waiting)] for n in range(min(at_once, len(waiting)))]

"""Percentiles of times, and the position of a time on the axis of a strip."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

MINUTE, HOUR, DAY = 60, 3_600, 86_400
TICKS: Final = (
    (MINUTE, "up to 1 min"), (5 * MINUTE, "5 min"), (15 * MINUTE, "15 min"), (HOUR, "1 h"), (4 * HOUR, "4 h"),
    (DAY, "1 d"), (7 * DAY, "7 d"), (30 * DAY, "30 d"), (90 * DAY, "90 d"), (365 * DAY, "1 y"),
)  # fmt: skip
EDGE = 1.5  # per cent of the width left free at either end


def percentile(times: Sequence[float], share: float) -> float:
    """Return the time that this share of all took at most, by nearest rank: always a measured one."""
    ranked = sorted(times)
    return ranked[max(0, math.ceil(share * len(ranked)) - 1)]


def ticks(longest: float) -> list[tuple[float, str]]:
    """Return the ticks of an axis that covers the longest time, each with its position in per cent."""
    shown, end = _shown(longest), axis_end(longest)
    return [(where(at, end=end), name) for at, name in shown]


def axis_end(longest: float) -> float:
    """Return the time at the right end of an axis that covers the longest time."""
    return _shown(longest)[-1][0]


def _shown(longest: float) -> Sequence[tuple[int, str]]:
    enough = next((place for place, (at, _) in enumerate(TICKS) if at >= longest), len(TICKS) - 1)
    return TICKS[: max(4, enough + 1)]


def where(time: float, *, end: float) -> float:
    """Return a time's position in per cent of the width, on a logarithmic scale from a minute to ``end``."""
    inside = min(max(time, MINUTE), end)
    part = math.log(inside / MINUTE) / math.log(end / MINUTE)
    return round(EDGE + part * (100 - 2 * EDGE), 2)

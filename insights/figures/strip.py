"""Times along one axis: a dot for each incident if the dots fit, otherwise a bar for each place."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from insights.figures import distribution
from insights.figures.figure import CountedThing, FigureRow

SLOTS: Final = 32
STACK: Final = 4  # dots above each other
HEIGHT: Final = 48  # pixels, as are the next three
DOT, STEP, FLOOR = 5, 11, 46
WIDTH: Final = round((100 - 2 * distribution.EDGE) / SLOTS * 0.8, 2)  # of a bar, in per cent


@dataclass(frozen=True, slots=True)
class StripMark:
    """A dot or a bar: where it is, and what it counts. ``x`` and ``width`` are in per cent, the rest in pixels."""

    slot: int
    x: float
    y: float
    counted: tuple[CountedThing, ...]
    height: float = 0.0

    @property
    def dot(self) -> CountedThing | None:
        """The one thing it stands for, if it is a dot."""
        return None if self.height else self.counted[0]


@dataclass(frozen=True, slots=True)
class StripRow:
    """One row: its marks, and its percentiles in seconds and as positions."""

    row: FigureRow
    marks: tuple[StripMark, ...]
    p50: float
    p90: float
    p50_x: float
    p90_x: float
    is_dots: bool

    @property
    def longest(self) -> float:
        """Its longest time, in seconds."""
        return self.row.times[-1]


@dataclass(frozen=True, slots=True)
class StripChart:
    """All rows over one axis."""

    rows: tuple[StripRow, ...]
    ticks: tuple[tuple[float, str], ...]
    height: int = HEIGHT
    width: float = WIDTH

    @property
    def has_bars(self) -> bool:
        """Whether any row has more than fits as dots."""
        return not all(one.is_dots for one in self.rows)


def chart(rows: Sequence[FigureRow]) -> StripChart:
    """Lay out rows of times."""
    longest = _longest(rows)
    drawn = (_row(one, longest) for one in rows if one.times)
    return StripChart(tuple(drawn), tuple(distribution.ticks(longest)))


def slot_of(row: FigureRow, slot: int, rows: Sequence[FigureRow]) -> FigureRow:
    """Return the part of a row that lies in one slot of the axis that all rows share."""
    end = distribution.axis_end(_longest(rows))
    inside = tuple(one for one in row.counted if one.seconds is not None and _slot(one.seconds, end) == slot)
    return FigureRow(row.key, row.label, inside, row.colour)


def _longest(rows: Sequence[FigureRow]) -> float:
    return max((row.times[-1] for row in rows if row.times), default=0.0)


def _row(row: FigureRow, longest: float) -> StripRow:
    end = distribution.axis_end(longest)
    filed = _filed(row, end)
    is_dots = max(len(some) for some in filed.values()) <= STACK
    marks = _dots(filed) if is_dots else _bars(filed)
    times = row.times
    p50, p90 = (distribution.percentile(times, share) for share in (0.5, 0.9))
    # Dots are centred in their slot, and the lines go through the dots they stand for.
    p50_x, p90_x = (_middle(_slot(time, end)) if is_dots else distribution.where(time, end=end) for time in (p50, p90))
    return StripRow(row, tuple(marks), p50, p90, p50_x, p90_x, is_dots)


def _filed(row: FigureRow, end: float) -> dict[int, list[CountedThing]]:
    """Group timed things by slot, computing the slot once for each slot and not for each thing."""
    times, filed, begin = row.times, {}, 0
    while begin < len(times):
        slot = _slot(times[begin], end)
        after = bisect_right(times, slot, lo=begin, key=lambda time: _slot(time, end))
        filed[slot], begin = row.timed[begin:after], after
    return filed


def _slot(time: float, end: float) -> int:
    part = (distribution.where(time, end=end) - distribution.EDGE) / (100 - 2 * distribution.EDGE)
    return min(int(part * SLOTS), SLOTS - 1)


def _middle(slot: int) -> float:
    return round(distribution.EDGE + (slot + 0.5) * (100 - 2 * distribution.EDGE) / SLOTS, 2)


def _dots(filed: dict[int, list[CountedThing]]) -> Iterator[StripMark]:
    for slot, some in sorted(filed.items()):
        for place, one in enumerate(some):
            yield StripMark(slot, _middle(slot), FLOOR - DOT - place * STEP, (one,))


def _bars(filed: dict[int, list[CountedThing]]) -> Iterator[StripMark]:
    most = max(len(some) for some in filed.values())
    for slot, some in sorted(filed.items()):
        height = round(max(2.0, len(some) / most * (FLOOR - 4)), 1)
        yield StripMark(slot, round(_middle(slot) - WIDTH / 2, 2), FLOOR - height, tuple(some), height)

"""A sweep as a heat map: cells in nine steps of one colour, with a line around those that pass a threshold. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from evidence.measures.sweeps import swept
from evidence.measures.sweeps.swept import Sweep, Threshold, Value

STEPS = 9
LOG_FROM = 30.0  # steps are logarithmic if the largest value is this many times the smallest
SIDES = {"t": (-1, 0), "b": (1, 0), "l": (0, -1), "r": (0, 1)}


@dataclass(frozen=True, slots=True)
class HeatCell:
    """One cell: its number in words and its step from 0 to 8; both empty if nothing was measured.

    ``edges`` are the sides (t, b, l, r) where this cell passes the threshold and the neighbour does not.
    """

    words: str = ""
    step: int | None = None
    passes: bool = False
    edges: str = ""

    @property
    def look(self) -> str:
        """Its CSS classes."""
        if self.step is None:
            return "none"
        return " ".join([f"h{self.step}", *(["passes"] if self.passes else []), *(f"e{side}" for side in self.edges)])


@dataclass(frozen=True, slots=True)
class Facet:
    """One map: ``label`` gives the values of the other axes; rows are from the first level of y down."""

    label: str
    rows: list[tuple[str, list[HeatCell]]]


@dataclass(frozen=True, slots=True)
class Heat:
    """The maps of one value over two axes, with the words of their axes, and where each step of colour begins."""

    value: str
    x: str
    y: str
    across: list[str]
    facets: list[Facet]
    bounds: list[str]
    logarithmic: bool
    passing: int
    measured: int
    missing: int


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps numbers to steps of colour."""

    low: float
    high: float
    logarithmic: bool

    def step(self, number: float) -> int:
        """Return the step from 0 to 8."""
        if self.high <= self.low:
            return 0
        if self.logarithmic:
            at = (math.log(number) - math.log(self.low)) / self._width
        else:
            at = (number - self.low) / (self.high - self.low)
        return min(STEPS - 1, max(0, int(at * STEPS)))

    @property
    def _width(self) -> float:
        return math.log(self.high) - math.log(self.low)

    def begins(self, step: int) -> float:
        """Return the smallest number in a step."""
        part = step / STEPS
        if self.logarithmic:
            return math.exp(math.log(self.low) + self._width * part)
        return self.low + (self.high - self.low) * part


def axes_of(sweep: Sweep, *, x: str = "", y: str = "") -> tuple[str, str, list[str]]:
    """Return the horizontal axis, the vertical one (empty if there is just one axis), and the rest, which split maps.

    By default these are the axes with the most levels, so that there are few maps.
    """
    many = sorted(sweep.axes, key=lambda axis: -len(sweep.levels(axis)))[:2]
    free = [axis for axis in sweep.axes if axis in many and axis not in {x, y}]
    free += [axis for axis in sweep.axes if axis not in {*free, x, y}]
    across = x if x in sweep.axes else free.pop(1 if len(free) > 1 and y not in sweep.axes else 0)
    down = y if y in sweep.axes and y != across else next((axis for axis in free if axis != across), "")
    return across, down, [axis for axis in sweep.axes if axis not in {across, down}]


def heat(
    sweep: Sweep, *, value: str, threshold: Threshold | None, x: str = "", y: str = "", scale: Scale | None = None
) -> Heat:
    """Arrange one value of a sweep. Combinations that differ only in other axes are in separate maps."""
    across, down, rest = axes_of(sweep, x=x, y=y)
    found = dict(sweep.cells(value))
    scale = scale or scale_of(list(found.values()))
    levels: dict[str, list[Value]] = {axis: sweep.levels(axis) for axis in sweep.axes}
    labels = [swept.level_words(down, level) for level in levels[down]] if down else [swept.called(value)]
    facets = []
    for at in product(*(levels[axis] for axis in rest)):
        fixed = dict(zip(rest, at, strict=True))
        grid = [
            [
                found.get(tuple({**fixed, across: column, down: row}[axis] for axis in sweep.axes))
                for column in levels[across]
            ]
            for row in (levels[down] if down else [""])
        ]
        label = ", ".join(swept.at_words(axis, level) for axis, level in fixed.items())
        facets.append(Facet(label, _rows(grid, labels, value=value, threshold=threshold, scale=scale)))
    return Heat(
        value=value,
        x=across,
        y=down,
        across=[swept.level_words(across, level) for level in levels[across]],
        facets=facets,
        bounds=[swept.number_words(_three(scale.begins(step)), value) for step in range(STEPS)],
        logarithmic=scale.logarithmic,
        passing=sum(threshold.passes(number) for number in found.values()) if threshold else 0,
        measured=len(found),
        missing=sweep.combinations - len(found),
    )


def scale_of(numbers: Sequence[float]) -> Scale:
    """Return the scale from the smallest to the largest number."""
    low, high = min(numbers, default=0.0), max(numbers, default=0.0)
    return Scale(low, high, logarithmic=low > 0 and high >= LOG_FROM * low)


def _rows(
    grid: list[list[float | None]], labels: list[str], *, value: str, threshold: Threshold | None, scale: Scale
) -> list[tuple[str, list[HeatCell]]]:
    passes = threshold.passes if threshold else lambda number: False
    over = [[number is not None and passes(number) for number in row] for row in grid]
    return [
        (label, [_cell(number, over, i, j, value=value, scale=scale) for j, number in enumerate(row)])
        for i, (label, row) in enumerate(zip(labels, grid, strict=True))
    ]


def _cell(number: float | None, over: list[list[bool]], i: int, j: int, *, value: str, scale: Scale) -> HeatCell:
    if number is None:
        return HeatCell()
    edges = "".join(side for side, (down, right) in SIDES.items() if over[i][j] and _inside(over, i + down, j + right))
    return HeatCell(swept.number_words(number, value), scale.step(number), over[i][j], edges)


def _inside(over: list[list[bool]], i: int, j: int) -> bool:
    """Return whether there is a cell at a place that does not pass."""
    return 0 <= i < len(over) and 0 <= j < len(over[i]) and not over[i][j]


def _three(number: float) -> float:
    return float(f"{number:.3g}")

"""The content of a sweep, and how its numbers are formatted. Pure."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from math import prod
from typing import Any

from evidence.measures import words

NAME = "sweep"
Value = str | float


@dataclass(frozen=True, slots=True)
class Threshold:
    """Where a value begins to pass: at ``limit`` or more, or less than it if ``below``."""

    value: str
    limit: float
    below: bool = False

    def passes(self, value: float) -> bool:
        """Return whether a value passes."""
        return value < self.limit if self.below else value >= self.limit


@dataclass(slots=True)
class Sweep:
    """The rows of a sweep: a key of axis values, and a number or None for each name in ``values``.

    ``repeats`` is the largest number of rows for one combination; a cell is their median. ``left_out`` names columns
    that are neither; ``skipped`` counts rows without any number.
    """

    axes: list[str]
    values: list[str]
    rows: list[tuple[tuple[Value, ...], tuple[float | None, ...]]]
    threshold: Threshold | None = None
    repeats: int = 1
    left_out: list[str] = field(default_factory=list)
    skipped: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return plain values to be stored."""
        rows = [[list(key), list(numbers)] for key, numbers in self.rows]
        return {"measure": NAME, **asdict(self), "rows": rows}

    def levels(self, axis: str) -> list[Value]:
        """Return the values of an axis, numbers sorted, words in the order of the file."""
        at = self.axes.index(axis)
        met = list(dict.fromkeys(key[at] for key, _ in self.rows))
        return sorted(met, key=_numeric) if all(isinstance(level, float) for level in met) else met

    def cells(self, value: str) -> list[tuple[tuple[Value, ...], float]]:
        """Return the key and the number of each combination that was measured."""
        at = self.values.index(value)
        return [(key, number) for key, numbers in self.rows if (number := numbers[at]) is not None]

    @property
    def combinations(self) -> int:
        """How many cells there would be if none were missing."""
        return prod(len(self.levels(axis)) for axis in self.axes)

    @property
    def first(self) -> str:
        """The value to show first: the one with a threshold, else the first column."""
        return self.threshold.value if self.threshold else self.values[0]


def said(sweep: Sweep, name: str, threshold: Threshold | None) -> str:
    """Say one value of a sweep in a sentence."""
    cells = sweep.cells(name)
    if not cells:
        return f"No cell has {called(name)}"
    below = threshold is not None and threshold.below
    key, worst = (min if below else max)(cells, key=lambda cell: cell[1])
    where = ", ".join(at_words(axis, level) for axis, level in zip(sweep.axes, key, strict=True))
    missing = f"; {gone:,} missing" if (gone := sweep.combinations - len(cells)) > 0 else ""
    if threshold is None:
        low = min(number for _, number in cells)
        span = f"{number_words(low, name)} to {number_words(worst, name)}"
        said = called(name)
        return f"{said[:1].upper()}{said[1:]} from {span} in {len(cells):,} cells; most at {where}{missing}"
    passing = sum(threshold.passes(number) for _, number in cells)
    limit = number_words(threshold.limit, name)
    verb = ("is" if passing == 1 else "are") + " below" if below else "passes" if passing == 1 else "pass"
    counted = f"{passing:,} of {len(cells):,} cells {verb} {limit}"
    return f"{counted} ({called(name)}); worst {number_words(worst, name)} at {where}{missing}"


# The ending of a column's name -> the unit of its numbers.
UNITS = {
    "ms": "ms", "us": "µs", "µs": "µs", "ns": "ns", "s": "s", "sec": "s", "seconds": "s", "min": "min",
    "bytes": "B", "b": "B", "kib": "KiB", "mib": "MiB", "gib": "GiB", "kb": "kB", "mb": "MB", "gb": "GB",
    "pct": "%", "percent": "%", "%": "%", "ratio": "share", "share": "share", "fraction": "share",
}  # fmt: skip
WORD = re.compile(r"(?P<name>.*?)[\s_.(\[-]+(?P<end>[^\s_.()\[\]-]+)[)\]]?")


def called(name: str) -> str:
    """Return a column's name in words, without its unit."""
    words_of = name.replace("_", " ")
    found = WORD.fullmatch(name.strip())
    if found and found["name"] and UNITS.get(found["end"].lower(), "share") != "share":
        words_of = found["name"].replace("_", " ")
    return " ".join(words_of.split())


def unit_of(name: str) -> str:
    """Return the unit that a column's name ends with: *share* for fractions of one, empty if it has none."""
    found = WORD.fullmatch(name.strip())
    end = (found["end"] if found and found["name"] else name.strip()).lower()
    return UNITS.get(end, "") if found or end in {"%", "pct", "percent", "ratio", "share", "ms", "us", "ns"} else ""


# What units measure, and how many of the smallest one each is.
SCALES = (
    {"ns": 1, "µs": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9},
    {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30},
    {"%": 1, "share": 100},
)


def times(said: str, name: str) -> float | None:
    """Return how many of a column's units one of the stated unit is; None if they don't go together.

    Words that are no unit say nothing, and neither does a unit for a column that names none.
    """
    unit, own = UNITS.get(said.strip("()[].;,").lower(), ""), unit_of(name)
    if not unit or not own or unit == own:
        return 1
    scale = next((one for one in SCALES if unit in one), {})
    return scale[unit] / scale[own] if own in scale else None


def at_words(axis: str, level: Value) -> str:
    """Say one value of an axis with the axis: ``rtt 50 ms``."""
    return f"{called(axis)} {level_words(axis, level)}"


def level_words(axis: str, level: Value) -> str:
    """Say one value of an axis with its unit."""
    return level if isinstance(level, str) else number_words(level, axis)


def number_words(value: float, name: str) -> str:
    """Format a number in a column with its unit."""
    unit = unit_of(name)
    if unit in {"share", "%"}:
        return words.share(value if unit == "share" else value / 100)
    said = words.number(value if value == int(value) else float(f"{value:.3g}"))
    return f"{said} {unit}".strip()


def _numeric(level: Value) -> float:
    return level if isinstance(level, float) else 0.0

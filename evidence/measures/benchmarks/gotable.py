"""Benchmarks of several variants against a control, in tables like benchstat's: medians, change, p. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from evidence.measures import words
from evidence.measures.benchmarks import significance

Samples = dict[str, dict[str, list[float]]]  # benchmark -> unit -> values in the order of the file

FIRST_UNITS = ("ns/op", "MB/s", "B/op", "allocs/op")
MORE_IS_BETTER = ("/s", "/sec", "hit-rate")
MOVED = {
    "ns/op": ("faster", "slower"),
    "sec/op": ("faster", "slower"),
    "MB/s": ("slower", "faster"),
    "B/s": ("slower", "faster"),
}
LABELS = {
    "ns/op": "time an operation",
    "sec/op": "time an operation",
    "B/op": "bytes an operation",
    "allocs/op": "allocations an operation",
}


@dataclass(frozen=True, slots=True)
class Column:
    """The samples of one variant."""

    label: str
    samples: Samples


@dataclass(frozen=True, slots=True)
class BenchmarkCell:
    """One benchmark of one variant: the median of n values, and its difference from the control's.

    ``spread`` is the extent of the median's interval, as a share of it; None if there are too few values. ``p`` and
    ``change`` are None in the control's own column, and if the control has no such benchmark; ``change`` is a share,
    None also if the control's median is zero.
    """

    median: float
    n: int
    spread: float | None
    p: float | None = None
    change: float | None = None
    control: float | None = None
    control_n: int = 0

    @property
    def compared(self) -> bool:
        """Whether the control has the same benchmark."""
        return self.p is not None

    @property
    def differs(self) -> bool:
        """Whether the difference is more than chance would explain."""
        return self.p is not None and self.p <= significance.ALPHA and self.median != self.control

    @property
    def too_few(self) -> bool:
        """Whether both sides have too few values to find any difference."""
        fewest = significance.fewest()
        return self.compared and not self.differs and self.n < fewest and self.control_n < fewest


@dataclass(slots=True)
class BenchmarkTable:
    """One unit: a row of cells for each benchmark, a cell for each variant, None if it was not measured.

    ``means`` are the geometric means of the columns' medians, ``changes`` those of the ratios to the control as shares;
    None if a value is not above zero. ``alike`` says whether every column has the same benchmarks.
    """

    unit: str
    labels: list[str]
    rows: list[tuple[str, list[BenchmarkCell | None]]]
    means: list[float | None] = field(default_factory=list)
    changes: list[float | None] = field(default_factory=list)
    alike: bool = True

    @property
    def better(self) -> int:
        """Which way is better: 1 for more, -1 for less, 0 if the unit does not say."""
        if self.unit.endswith(MORE_IS_BETTER):
            return 1
        return -1 if self.unit.endswith("/op") else 0

    @property
    def title(self) -> str:
        """What the unit measures, in words."""
        return LABELS.get(self.unit, self.unit)

    def say(self, value: float) -> str:
        """Format a value in this unit."""
        return say(value, self.unit)


def tables(columns: Sequence[Column], *, control: int = 0) -> list[BenchmarkTable]:
    """Compare variants with the control, which comes first; a table for each unit."""
    ordered = [columns[control], *(column for i, column in enumerate(columns) if i != control)]
    return [_table(unit, ordered) for unit in _units(ordered)]


def say(value: float, unit: str) -> str:
    """Format a value in a suitable unit, without *an operation*."""
    how = SAID.get(unit)
    return how(value) if how else words.number(_three(value))


def sentence(columns: Sequence[Column], *, control: int = 0) -> str:
    """Say what matters about some variants: each benchmark if there are few, counts if there are many."""
    return sentence_of(tables(columns, control=control))


def sentence_of(found: list[BenchmarkTable]) -> str:
    """Say what matters in some tables; the first one is the main one."""
    if not found:
        return "No benchmark was measured"
    first = found[0]
    if len(first.labels) == 1:
        return _alone(found)
    if len(first.labels) == 2 and len(first.rows) == 1:
        return _pair(found)
    if len(first.rows) == 1:
        return _one_by_one(first)
    return _counts(first) if len(first.labels) == 2 else _means(first)


def _units(columns: Sequence[Column]) -> list[str]:
    met = dict.fromkeys(unit for column in columns for row in column.samples.values() for unit in row)
    return [*(unit for unit in FIRST_UNITS if unit in met), *(unit for unit in met if unit not in FIRST_UNITS)]


def _table(unit: str, columns: Sequence[Column]) -> BenchmarkTable:
    names = dict.fromkeys(name for column in columns for name, row in column.samples.items() if unit in row)
    rows = [(name, [_cell(column, columns[0], name, unit) for column in columns]) for name in names]
    table = BenchmarkTable(unit, _labels(columns), rows)
    sides = list(zip(*(cells for _, cells in rows), strict=True))
    table.means = [significance.geometric_mean(cell.median for cell in side if cell) for side in sides]
    table.changes = [None, *(_mean_change(side) for side in sides[1:])]
    table.alike = all(
        (cell is None) == (first is None) for side in sides for cell, first in zip(side, sides[0], strict=True)
    )
    return table


def _labels(columns: Sequence[Column]) -> list[str]:
    """Return the columns' names; several without a name are numbered."""
    return [column.label or (f"variant {i}" if len(columns) > 1 else "") for i, column in enumerate(columns, start=1)]


def _cell(column: Column, control: Column, name: str, unit: str) -> BenchmarkCell | None:
    values = column.samples.get(name, {}).get(unit)
    if not values:
        return None
    center = significance.median(values)
    base = control.samples.get(name, {}).get(unit) if column is not control else None
    if not base:
        return BenchmarkCell(center, len(values), _spread(values, center))
    was = significance.median(base)
    change = 0.0 if was == center else center / was - 1 if was else None
    p = significance.mann_whitney(base, values)
    return BenchmarkCell(center, len(values), _spread(values, center), p, change, was, len(base))


def _spread(values: Sequence[float], center: float) -> float | None:
    bounds = significance.interval(values)
    if bounds is None or (center == 0 and bounds != (0, 0)):
        return None
    return max(bounds[1] / center - 1, 1 - bounds[0] / center) if center else 0.0


def _mean_change(side: Sequence[BenchmarkCell | None]) -> float | None:
    """Return the geometric mean of the ratios to the control, as a share; zero over zero is no change."""
    pairs = [(cell.median, cell.control) for cell in side if cell and cell.control is not None]
    mean = significance.geometric_mean(1.0 if now == was else now / was if was else 0.0 for now, was in pairs)
    return None if mean is None else mean - 1


def _alone(found: list[BenchmarkTable]) -> str:
    first = found[0]
    if len(first.rows) > 1:
        slowest = max(first.rows, key=lambda row: row[1][0].median if row[1][0] else 0)
        assert slowest[1][0] is not None, "a row has a cell"
        most = "slowest" if first.unit in {"ns/op", "sec/op"} else "largest"
        return f"{len(first.rows)} benchmarks; the {most} is {slowest[0]}: {first.say(slowest[1][0].median)}"
    said = [f"{table.say(cell.median)}{_after(table.unit)}" for table, cell in _only(found, 0)]
    name, cells = first.rows[0]
    assert cells[0] is not None, "a row has a cell"
    return f"{name}: {', '.join(said[:4])} (n = {cells[0].n})"


def _pair(found: list[BenchmarkTable]) -> str:
    """Say one benchmark of two variants: what it took with its p, then what else changed."""
    parts: list[str] = []
    for table, cell in _only(found, 1):
        if cell.control is None:
            continue
        if not parts:
            parts.append(f"{table.say(cell.control)} → {table.say(cell.median)} ({verdict(cell)})")
        elif cell.differs:
            parts.append(f"{table.say(cell.control)} → {table.say(cell.median)}{_after(table.unit)}")
    return f"{found[0].rows[0][0]}: {'; '.join(parts) or 'measured on one side only'}"


def verdict(cell: BenchmarkCell) -> str:
    """Say how far a cell is from the control, and how certain that is: ``−7.7 %, p = 0.000, n = 10``."""
    if cell.p is None:
        return "not measured in the control"
    n = f"n = {cell.n}" if cell.n == cell.control_n else f"n = {cell.control_n} and {cell.n}"
    change = words.share(cell.change, sign=True) if cell.change is not None else "from 0"
    return f"{change if cell.differs else 'no clear difference'}, {words.p_value(cell.p)}, {n}"


def _one_by_one(table: BenchmarkTable) -> str:
    name, cells = table.rows[0]
    base = cells[0]
    said = [f"{label} {_moved(cell)}" for label, cell in zip(table.labels[1:], cells[1:], strict=True) if cell]
    against = f" against {table.labels[0]} ({table.say(base.median)})" if base else ""
    return f"{name}: {words.listed(said, most=5)}{against}"


def _moved(cell: BenchmarkCell) -> str:
    if not cell.differs or cell.change is None:
        return "no clear difference" if cell.compared else "has no control"
    return words.share(cell.change, sign=True)


def _counts(table: BenchmarkTable) -> str:
    """Say how many benchmarks of two variants moved which way, and which one moved most."""
    side = [(name, cell) for name, cells in table.rows if (cell := cells[-1]) and cells[0]]
    alone = len(table.rows) - len(side)
    if not side:
        return f"No benchmark in common: {alone} measured on one side only"
    moved = [(name, cell, cell.change) for name, cell in side if cell.differs and cell.change is not None]
    less, more = MOVED.get(table.unit, ("lower", "higher"))
    down = sum(change < 0 for _, _, change in moved)
    said = f"{down} of {len(side)} benchmarks {less}, {len(moved) - down} {more} {words.beside(table.labels[-1])}"
    said += f"; {alone} measured on one side only" if alone else ""
    mean = table.changes[-1] if table.changes else None
    said += f"; geometric mean {words.share(mean, sign=True)}" if mean is not None else ""
    if not moved:
        return said
    name, cell, _ = max(moved, key=lambda one: abs(one[2]))
    return f"{said}; most: {name} {table.say(cell.control or 0)} → {table.say(cell.median)} ({verdict(cell)})"


def _means(table: BenchmarkTable) -> str:
    """Say for several variants how far their benchmarks are from the control overall."""
    pairs = zip(table.labels[1:], table.changes[1:], strict=False)
    said = [f"{label} {words.share(change, sign=True)}" for label, change in pairs if change is not None]
    against = f"{len(table.rows)} benchmarks of {len(table.labels)} variants"
    return f"{against}; geometric mean against {table.labels[0]}: {words.listed(said, most=5)}" if said else against


def _only(found: list[BenchmarkTable], side: int) -> Iterator[tuple[BenchmarkTable, BenchmarkCell]]:
    for table in found:
        cells = table.rows[0][1] if table.rows else []
        if side < len(cells) and (cell := cells[side]):
            yield table, cell


def _after(unit: str) -> str:
    return {"allocs/op": " allocations an operation", "B/op": "", "ns/op": "", "MB/s": ""}.get(unit, f" {unit}")


def _three(value: float) -> float:
    return value if value == int(value) else float(f"{value:.4g}")


SAID: dict[str, Callable[[float], str]] = {
    "ns/op": lambda value: words.seconds(value * 1e-9),
    "sec/op": words.seconds,
    "B/op": words.size,
    "B/s": lambda value: f"{words.size(value)}/s",
    "MB/s": lambda value: f"{words.number(float(f'{value:.4g}'))} MB/s",
}

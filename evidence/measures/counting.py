"""Tables of counts: how often something happened, and how long it took; alone, and before and after. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from evidence.measures import words

SHOWN = 3
LITTLE = 0.01  # of the total: a smaller difference is no change
# Quantities that come first in tables of quantities that do not add up.
FIRST = ("elapsed", "task-clock", "cpu-clock")
# Columns in which less is better; for others no one can tell.
WORSE_WHEN_MORE = {"time", "errors", "calls"}


class CountColumn(NamedTuple):
    """What a column holds and its unit: s, % or nothing for plain counts; ``adds`` says that a sum is meaningful."""

    name: str
    unit: str = ""
    adds: bool = True


@dataclass(slots=True)
class CountTable:
    """One table: rows of a key and its numbers, None for what a tool does not say.

    ``key`` is what a row is (*syscall*); ``title`` says whose table it is. Rows with a unit of their own are quantities
    that do not add up, as *perf stat* prints them. ``rest`` is how much of the first column the tool left out, in rows
    that it doesn't show; ``top`` is how many rows it shows at most, if there may be more that it doesn't mention.
    """

    tool: str
    key: str
    columns: list[CountColumn]
    rows: list[tuple[str, list[float | None]]]
    title: str = ""
    apart: bool = False
    rest: float = 0.0
    top: int = 0

    @property
    def is_cut(self) -> bool:
        """Whether there may be rows that it doesn't show."""
        return bool(self.rest) or 0 < self.top <= len(self.rows)

    def total(self, column: int) -> float:
        """Return the sum of a column, including rows that aren't shown if the tool says how much they are."""
        shown = sum(numbers[column] or 0 for _, numbers in self.rows)
        return shown if column else shown + self.rest

    @property
    def main(self) -> int:
        """The column that a sentence is about: time if there is any, else how often."""
        times = [at for at, one in enumerate(self.columns) if one.unit == "s" and one.adds]
        counts = [at for at, one in enumerate(self.columns) if not one.unit and one.adds]
        return next((at for at in [*times, *counts] if self.total(at)), (*counts, *times, 0)[0])

    def ordered(self) -> list[tuple[str, list[float | None]]]:
        """Return the rows, largest first if they add up."""
        return self.rows if self.apart else sorted(self.rows, key=lambda row: -(row[1][self.main] or 0))


def said(value: float | None, unit: str) -> str:
    """Format a number in a column."""
    if value is None:
        return ""
    if unit == "s":
        return words.seconds(float(f"{value:.4g}"))
    if unit == "%":
        return words.share(value / 100)
    if unit == "B":
        return words.size(value)
    number = words.number(value if value == int(value) else float(f"{value:.4g}"))
    return f"{number} {unit}".strip()


def sentence(tables: Sequence[CountTable]) -> str:
    """Say what counts most in the first table."""
    first = tables[0]
    if first.apart:
        return "; ".join(_quantities(first))
    main = first.main
    total = first.total(main)
    if not total:
        return f"Nothing was counted in {len(first.rows):,} rows"
    top, numbers = first.ordered()[0]
    what = _of(first, main)
    whole = f"{said(total, first.columns[main].unit)} {what}"
    share = words.share((numbers[main] or 0) / total)
    others = [
        f"{said(number, column.unit)} {column.name}"
        for at, (column, number) in enumerate(zip(first.columns, numbers, strict=True))
        if at != main and column.adds and number
    ]
    are = "of it is" if first.columns[main].unit else "of them are" if total > 1 else "of it is"
    hidden = f"; {words.share(first.rest / total)} isn't shown" if first.rest and not main else ""
    hidden = hidden or (f"; only the top {first.top} are in it" if first.is_cut else "")
    return f"{whole}: {share} {are} `{top}`" + (f" ({', '.join(others)})" if others else "") + hidden


def _of(table: CountTable, column: int) -> str:
    one = table.columns[column]
    return f"in {table.key}s" if one.unit == "s" else one.name


def _quantities(table: CountTable) -> list[str]:
    """Say the quantities that explain the others first: how long, how much of it on processors, how many a cycle."""
    known = {name_of(table, key): (numbers[0], unit_of(table, key)) for key, numbers in table.rows}
    bare = {name.partition(":")[0]: value for name, (value, _) in known.items()}
    first = [name for name in FIRST if name in known]
    chosen = [*first, *(name for name in known if name not in first)][: SHOWN + len(first)]
    found = [f"{said(*known[name])} {name}" for name in chosen]
    cycles, instructions = bare.get("cycles"), bare.get("instructions")
    return [*found, f"{instructions / cycles:.2f} instructions a cycle"] if cycles and instructions else found


def name_of(table: CountTable, key: str) -> str:
    """Return the name of a row, without the unit that its key may end with."""
    unit = unit_of(table, key)
    return key.removesuffix(f" ({unit})") if table.apart and unit else key


def unit_of(table: CountTable, key: str) -> str:
    """Return the unit of a row's first number: its own, in brackets after the key, or the column's."""
    return key.rpartition(" (")[2].removesuffix(")") if table.apart and key.endswith(")") else table.columns[0].unit


class CountChange(NamedTuple):
    """One row of several tables: what each side counts in the column that matters, and in the others."""

    key: str
    sides: list[list[float | None]]

    def of(self, side: int, column: int) -> float:
        """Return a number of one side, 0 where there is none."""
        numbers = self.sides[side]
        return (numbers[column] or 0) if column < len(numbers) else 0


def merged(tables: Sequence[CountTable]) -> list[CountChange]:
    """Return the rows of all tables by key, in the order of their change from the first to the last."""
    columns = [one.name for one in tables[0].columns]
    keys = list(dict.fromkeys(key for table in tables for key, _ in table.rows))
    known = [
        {key: [_named(table, numbers, name) for name in columns] for key, numbers in table.rows} for table in tables
    ]
    found = [CountChange(key, [rows.get(key, [None] * len(columns)) for rows in known]) for key in keys]
    main = shared(tables)
    if tables[0].apart or main is None:
        return found
    return sorted(found, key=lambda one: -abs(one.of(-1, main) - one.of(0, main)))


def shared(tables: Sequence[CountTable]) -> int | None:
    """Return the first table's column to compare: its main one, else one that all have numbers in.

    What a tool did not measure is not zero, so without such a column there is nothing to compare.
    """
    first = tables[0]
    adding = [at for at, one in enumerate(first.columns) if one.adds or first.apart]
    order = [first.main, *sorted(adding, key=lambda at: first.columns[at].unit != "s")]
    return next((at for at in order if all(_has(table, first.columns[at].name) for table in tables)), None)


def _has(table: CountTable, name: str) -> bool:
    return any(_named(table, numbers, name) is not None for _, numbers in table.rows)


def _named(table: CountTable, numbers: list[float | None], name: str) -> float | None:
    return next((n for column, n in zip(table.columns, numbers, strict=True) if column.name == name), None)


def compared(tables: Sequence[CountTable]) -> str:
    """Say what changed most between the first table and the last: *futex 4.5 s → 0.2 s (−96 %)*."""
    first, last = tables[0], tables[-1]
    if first.key != last.key:
        return f"These count different things: {first.key}s and {last.key}s"
    main = shared(tables)
    if main is None:
        return f"These count different things of the same {first.key}s"
    name, unit = first.columns[main].name, first.columns[main].unit
    totals = [
        sum(_named(table, numbers, name) or 0 for _, numbers in table.rows) + (0 if main else table.rest)
        for table in (first, last)
    ]
    whole = max(*totals, 1e-30)
    known = [one for one in merged(tables) if not _is_hidden(one, (first, last), main)]
    changed = [one for one in known if abs(one.of(-1, main) - one.of(0, main)) >= LITTLE * whole]
    if first.apart:
        changed = [one for one in merged(tables) if relative(one.of(0, 0), one.of(-1, 0)) not in {None, 0.0}]
    if not changed:
        return "Nothing changed by 1 % of the whole or more"
    parts = []
    for one in changed[:SHOWN]:
        its = unit_of(first, one.key) if first.apart else unit
        parts.append(f"`{name_of(first, one.key)}` {_step(one.of(0, main), one.of(-1, main), its)}")
    total = "" if first.apart else f"; in all {_step(totals[0], totals[1], unit)}"
    return "; ".join(parts) + total


def _is_hidden(one: CountChange, sides: Sequence[CountTable], column: int) -> bool:
    """Return whether a row may be among those that one side doesn't show: then it is not gone, and not new."""
    numbers = (one.sides[0][column], one.sides[-1][column])
    return any(number is None and table.is_cut for number, table in zip(numbers, sides, strict=True))


def _step(before: float, after: float, unit: str) -> str:
    change = relative(before, after)
    share = f" ({words.share(change, sign=True)})" if change is not None else ""
    return f"{said(before, unit)} → {said(after, unit)}{share}"


def relative(before: float | None, after: float | None) -> float | None:
    """Return by which share something changed; None if it was zero."""
    return None if not before or after is None else after / before - 1


def plain(table: CountTable) -> dict[str, Any]:
    """Return a table as plain values, for storage."""
    columns = [list(one) for one in table.columns]
    rows = [[key, numbers] for key, numbers in table.rows]
    return {
        "tool": table.tool, "key": table.key, "columns": columns, "rows": rows, "title": table.title,
        "apart": table.apart, "rest": table.rest, "top": table.top,
    }  # fmt: skip


def reopened(kept: dict[str, Any]) -> CountTable:
    """Return the table that ``plain`` stored."""
    columns = [CountColumn(*one) for one in kept["columns"]]
    return CountTable(
        kept["tool"], kept["key"], columns, [(key, list(numbers)) for key, numbers in kept["rows"]], kept["title"],
        kept["apart"], kept.get("rest", 0.0), kept.get("top", 0),
    )  # fmt: skip

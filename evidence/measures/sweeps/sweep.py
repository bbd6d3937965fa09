"""A sweep: one row for each combination of what was varied, with the measurements; CSV, or with ``;``, ``|`` or tabs.

The first line names the columns; those that tell rows apart, from the left, are the axes, the other numeric ones the
values. A matrix, whose first line holds numbers, is read too. Comments begin with ``#``; ``# threshold: slow 1 %`` says
from where on a value counts as bad, ``# threshold: rate < 100`` the same the other way; ``# axes: peers, rtt_ms`` names
the axes. A threshold may be in another unit than its column.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from statistics import median
from typing import Any

from evidence.measures import bounded_text
from evidence.measures.sweeps import swept
from evidence.measures.sweeps.swept import Sweep, Threshold, Value, unit_of
from evidence.profile.errors import BadProfile, TooMuch

NAME = swept.NAME
KIND = "sweep"
TELLS = "it is a table with a header and rows of numbers"
MOST_ROWS = 20_000
MOST_NUMBERS = 200_000
MOST_COLUMNS = 60
MOST_AXES = 4
MOST_CELLS = 10_000  # combinations of everything that was varied, measured or not
SPARSE = 4  # combinations per row up to which columns count as axes
DELIMITERS = (",", "\t", ";", "|")

NUMBER = re.compile(r"[-+]?(\d{1,18}(\.\d{0,18})?|\.\d{1,18})([eE][-+]?\d{1,3})?")
THRESHOLD = re.compile(r"#\s*threshold\s*:\s*(.+?)[\s:]+([<>]?)=?\s*([-+.,\deE]+)\s*(\S{0,20}).*", re.IGNORECASE)
AXES = re.compile(r"#\s*axes\s*:\s*(.+)", re.IGNORECASE)
THOUSANDS = re.compile(r"[-+]?\d{1,3}(,\d{3})+")  # ambiguous: thousands, or three decimals
MISSING = {"", "-", "–", "na", "n/a", "nan", "null", "none", "?"}


def from_dict(kept: Mapping[str, Any]) -> Sweep:
    """Return what ``as_dict`` stored."""
    said = {name: value for name, value in kept.items() if name != "measure"}
    rows = [
        (tuple(float(v) if isinstance(v, int) else v for v in key), tuple(numbers)) for key, numbers in said["rows"]
    ]
    threshold = Threshold(**said["threshold"]) if said["threshold"] else None
    return Sweep(**{**said, "rows": rows, "threshold": threshold})


def looks_like(head: bytes) -> bool:
    """Return whether the first lines are a header and rows with as many columns, some of them numbers."""
    try:
        lines = [
            line
            for _, line in bounded_text.lines(head[: bounded_text.HEAD])
            if line.strip() and not line.startswith("#")
        ][:20]
    except TooMuch:
        return False
    lines = lines[:-1] if len(lines) < 20 and len(head) >= bounded_text.HEAD else lines  # the last one is cut off
    delimiter = _delimiter(lines)
    if delimiter is None or len(lines) < 3:
        return False
    rows = list(csv.reader(lines, delimiter=delimiter))
    return all(sum(_real(cell) is not None for cell in row) >= 2 for row in rows[1:]) and not _numbers_alone(rows[0])


def read(data: bytes) -> Sweep:
    """Read a table. Raises BadProfile naming the line, or TooMuch."""
    numbered = [(at, line) for at, line in bounded_text.lines(data) if line.strip()]
    comments = [(at, line) for at, line in numbered if line.startswith("#")]
    numbered = [(at, line) for at, line in numbered if not line.startswith("#")]
    delimiter = _delimiter([line for _, line in numbered[:20]])
    if delimiter is None:
        raise BadProfile("This isn't a table: its first lines don't have the same columns", where="line 1")
    if len(numbered) > MOST_ROWS + 1:
        raise TooMuch(f"It has {len(numbered) - 1:,} rows; at most {MOST_ROWS:,} can be shown")
    header, rows = _table(numbered, delimiter)
    header, rows = _arranged(*_long(header, rows), [line for _, line in comments])
    sweep = _sweep(header, rows)
    sweep.threshold = _threshold(comments, sweep.values, delimiter)
    return sweep


def sentence(value: Sweep) -> str:
    """Say how many cells pass the threshold and where it is worst; without a threshold, give the range."""
    name = value.first
    return swept.said(value, name, value.threshold)


def _delimiter(lines: Sequence[str]) -> str | None:
    """Return the column separator: the mark that gives every line the same number of columns, and the most."""
    if len(lines) < 2:
        return None
    widths = {mark: {len(row) for row in csv.reader(lines, delimiter=mark)} for mark in DELIMITERS}
    fitting = [(max(found), mark) for mark, found in widths.items() if len(found) == 1 and max(found) >= 2]
    return max(fitting, default=(0, None), key=lambda one: one[0])[1]


def _table(numbered: list[tuple[int, str]], delimiter: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    rows: list[tuple[int, list[str]]] = []
    for at, line in numbered:
        cells = [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter))]
        if rows and len(cells) != len(rows[0][1]):
            raise BadProfile(
                f"There are {len(cells)} columns where the header has {len(rows[0][1])}", where=f"line {at}"
            )
        rows.append((at, [_point(cell) if delimiter == ";" else cell for cell in cells]))
    header = rows[0][1]
    if len(header) > MOST_COLUMNS:
        raise TooMuch(
            f"It has {len(header)} columns; at most {MOST_COLUMNS} can be chosen from", where=f"line {rows[0][0]}"
        )
    if len(rows) * len(header) > MOST_NUMBERS:
        raise TooMuch(f"It holds more than {MOST_NUMBERS:,} numbers")
    return header, rows[1:]


def _point(cell: str) -> str:
    """Convert a decimal comma, the reason for ``;`` between columns."""
    return cell.replace(",", ".") if re.fullmatch(r"[-+]?\d+,\d+", cell) else cell


def _long(header: list[str], rows: list[tuple[int, list[str]]]) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Turn a matrix, whose header holds the second axis, into rows; leave anything else unchanged."""
    if len(header) < 3 or not _numbers_alone(header[1:]):
        return _named(header), rows
    across = [(column, header[column]) for column in range(1, len(header))]
    cells = [(at, [row[0], level, row[column]]) for at, row in rows for column, level in across]
    return [header[0] or "row", "column", "value"], cells


def _arranged(
    header: list[str], rows: list[tuple[int, list[str]]], comments: list[str]
) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Put the axes that a comment names first; add to a column's name that its cells are per cent."""
    header = [_percent(name, [row[i] for _, row in rows]) for i, name in enumerate(header)]
    named = next((found[1].split(",") for comment in comments if (found := AXES.match(comment))), [])
    wanted = [i for said in named for i, name in enumerate(header) if _same(name, said)]
    order = [*dict.fromkeys(wanted), *(i for i in range(len(header)) if i not in wanted)]
    return [header[i] for i in order], [(at, [row[i] for i in order]) for at, row in rows]


def _percent(name: str, cells: list[str]) -> str:
    known = [cell for cell in cells if cell.casefold() not in MISSING]
    marked = known and all(cell.endswith("%") for cell in known) and unit_of(name) != "%"
    return f"{name} %" if marked else name


def _named(header: list[str]) -> list[str]:
    """Give every column a unique name."""
    names: list[str] = []
    for i, name in enumerate(header, start=1):
        said = " ".join(name.split())[:80] or f"column {i}"
        names.append(said if said not in names else f"{said} ({i})")
    return names


def _sweep(header: list[str], rows: list[tuple[int, list[str]]]) -> Sweep:
    numeric = [all(_is_number(row[i]) for _, row in rows) for i in range(len(header))]
    axes = _axes(header, rows, numeric)
    values = [i for i in range(axes, len(header)) if numeric[i] and any(_real(row[i]) is not None for _, row in rows)]
    if not rows or not values:
        raise BadProfile("It has no column of numbers to show", where=f"line {rows[0][0]}" if rows else "line 1")
    found = dict(_cells(rows, axes, values))
    kept = [(key, numbers) for key, (numbers, _) in found.items()]
    known = [(key, numbers) for key, numbers in kept if any(number is not None for number in numbers)]
    sweep = Sweep(
        header[:axes],
        [header[i] for i in values],
        known,
        repeats=max(count for _, count in found.values()),
        left_out=[header[i] for i in range(axes, len(header)) if i not in values],
        skipped=len(kept) - len(known),
    )
    if not known:
        raise BadProfile("No row has a number", where=f"line {rows[0][0]}")
    if sweep.combinations > MOST_CELLS:
        raise TooMuch(
            f"It has {sweep.combinations:,} combinations of {', '.join(sweep.axes)}; at most {MOST_CELLS:,} are shown"
        )
    return sweep


def _axes(header: list[str], rows: list[tuple[int, list[str]]], numeric: list[bool]) -> int:
    """Return how many columns, from the left, distinguish the rows; two if none do, because of repeats.

    A column with a different value in every row was measured, not varied: the grid would be almost empty.
    """
    most = min(MOST_AXES, len(header) - 1)
    for count in range(1, most + 1):
        if not any(numeric[count:]):
            break
        levels = prod(len({row[i] for _, row in rows}) for i in range(count))
        if levels > max(SPARSE * len(rows), 16):
            break
        if len({tuple(row[:count]) for _, row in rows}) == len(rows):
            return count
    words_first = next((i for i, is_number in enumerate(numeric) if is_number), 0)
    return max(1, min(most, max(2, words_first)))


def _cells(
    rows: list[tuple[int, list[str]]], axes: int, values: list[int]
) -> Iterator[tuple[tuple[Value, ...], tuple[tuple[float | None, ...], int]]]:
    """Yield the numbers of each combination, the median if it was measured more than once, and how often."""
    numbers = [_real if all(_real(row[i]) is not None for _, row in rows) else _word for i in range(axes)]
    groups: dict[tuple[Value, ...], list[list[str]]] = {}
    for _, row in rows:
        key = tuple(number if (number := numbers[i](row[i])) is not None else row[i][:80] for i in range(axes))
        groups.setdefault(key, []).append(row)
    for key, group in groups.items():
        sides = ([number for row in group if (number := _real(row[i])) is not None] for i in values)
        yield key, (tuple(median(side) if side else None for side in sides), len(group))


def _word(_said: str) -> None:
    """Return None: a column of words has no numbers, even if a word looks like one."""


def _threshold(comments: list[tuple[int, str]], values: list[str], delimiter: str) -> Threshold | None:
    """Return the first threshold that a comment gives for an existing value, in that value's unit.

    Raises BadProfile for one that cannot be understood: every cell would be judged by it.
    """
    for at, comment in comments:
        found = THRESHOLD.match(comment[:300])
        name = found and _named_by(found[1], values)
        if found is None or name is None:
            continue
        limit = _real(_point(found[3]) if delimiter == ";" or not THOUSANDS.fullmatch(found[3]) else found[3])
        times = swept.times(found[4], name)
        if limit is None or times is None:
            raise BadProfile(
                f"The threshold of {name} can't be used: {found[3]} {found[4]}".rstrip(), where=f"line {at}"
            )
        return Threshold(name, limit * times, below=found[2] == "<")
    return None


def _named_by(said: str, values: list[str]) -> str | None:
    """Return the value that is meant: by its full name, else by its name without the unit if that is unambiguous."""
    called = [value for value in values if _same(swept.called(value), said)]
    whole = next((value for value in values if _same(value, said)), None)
    return whole or (called[0] if len(called) == 1 else None)


def _same(name: str, said: str) -> bool:
    one, other = (" ".join(text.replace("_", " ").split()).casefold() for text in (name, said))
    return one == other


def _numbers_alone(cells: Sequence[str]) -> bool:
    return all(_real(cell) is not None for cell in cells)


def _is_number(cell: str) -> bool:
    return cell.casefold() in MISSING or _real(cell) is not None


def _real(cell: str) -> float | None:
    said = cell.strip().removesuffix("%").rstrip()
    if len(said) > 40 or not NUMBER.fullmatch(said):
        return None
    value = float(said)
    return value if abs(value) < bounded_text.MOST_NUMBER else None

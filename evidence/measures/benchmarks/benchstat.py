"""benchstat's text output, in its current form with boxes and in the older one. Its figures are already rounded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any

from evidence.measures import bounded_text
from evidence.measures.benchmarks import gotable
from evidence.measures.benchmarks.gotable import BenchmarkCell, BenchmarkTable
from evidence.profile.errors import BadProfile, TooMuch

NAME = "benchstat"
KIND = "benchmark"
TELLS = "it has benchstat's tables of medians"
MOST_ROWS = 2_000
LEAST = 1e-30

BOX = "│"
OLDER = re.compile(r"name(?:\s+(?:old|new) \S.*?|\s+(?!old |new )\S+)(?:\s{2,}|$)")
CELL = re.compile(
    r"(?P<value>[-+]?\d[\d.]*)(?P<prefix>Ti|Gi|Mi|Ki|[TGMkmµun])?(?P<unit>[A-Za-z/%]*)"
    r"\s*(?:±\s*(?P<spread>\d+%|∞|\?))?"
)
DELTA = re.compile(
    r"(?P<change>~|\?|[-+]?\d[\d.]*%)\s*\((?:p=(?P<p>\d{1,3}(?:\.\d{1,9})?)[ ]?)?(?:n=(?P<n>\d+)(?:\+(?P<m>\d+))?)?\)"
)
PREFIXES = {
    "": 1.0, "T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "m": 1e-3, "µ": 1e-6, "u": 1e-6, "n": 1e-9,
    "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40,
}  # fmt: skip
NOTES = re.compile(r"[¹²³⁴⁵⁶⁷⁸⁹⁰]")
UNITS = {"time/op": "sec/op", "alloc/op": "B/op", "speed": "B/s"}


@dataclass(slots=True)
class Stated:
    """The tables as printed, with their rounding."""

    tables: list[BenchmarkTable]
    where: dict[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values to be stored."""
        return {"measure": NAME, "tables": [asdict(table) for table in self.tables], "where": self.where}


def from_dict(kept: Mapping[str, Any]) -> Stated:
    """Return what ``as_dict`` stored."""
    return Stated([_table(table) for table in kept["tables"]], dict(kept["where"]))


def looks_like(head: bytes) -> bool:
    """Return whether there is the heading of a table of medians."""
    text = NOTES.sub("", bounded_text.head(head))
    boxed = any(BOX in line and re.search(r"│\s+\S+\s+(vs base\s+)?│?", line) for line in text.splitlines())
    older = re.search(r"^name\s+(old \S+\s+new \S+\s+delta|(time|alloc|allocs)/op)", text, re.MULTILINE)
    return (boxed and re.search(r"± *(\d+%|∞|\?)", text) is not None) or older is not None


def read(data: bytes) -> Stated:
    """Read every table. Raises BadProfile if there is none, or TooMuch."""
    found = _Reading()
    for at, line in bounded_text.lines(data):
        found.take(NOTES.sub(" ", line).rstrip(), at=at)
    tables = [table for table in found.tables if table.rows and table.labels]
    if not tables:
        raise BadProfile("It has no table of medians")
    return Stated(tables, found.where)


def sentence(value: Stated) -> str:
    """Say in one sentence what the printed table says."""
    return gotable.sentence_of(value.tables)


def _table(kept: Mapping[str, Any]) -> BenchmarkTable:
    rows = [(name, [BenchmarkCell(**cell) if cell else None for cell in cells]) for name, cells in kept["rows"]]
    return BenchmarkTable(kept["unit"], kept["labels"], rows, kept["means"], kept["changes"], kept["alike"])


class _Reading:
    """The tables so far, and where the current one's columns begin."""

    def __init__(self) -> None:
        self.tables: list[BenchmarkTable] = []
        self.where: dict[str, str] = {}
        self.edges: list[int] = []
        self.labels: list[str] = []
        self.split = self._boxed

    def take(self, line: str, *, at: int) -> None:
        """Take one line."""
        if BOX in line:
            self._heading(line)
        elif OLDER.match(line):
            self._older(line)
        elif not line.strip():
            self.edges = []
        elif setting := re.fullmatch(r"([a-z][^\s:]*): (.+)", line):
            self.where[setting[1]] = setting[2][:200]
        elif self.tables and (self.edges or self.split == self._spaced):
            self._row(line, at=at)

    def _heading(self, line: str) -> None:
        """Take one of the two lines above a table: first the names of the columns, then their units."""
        self.split = self._boxed
        edges = [at for at, char in enumerate(line) if char == BOX]
        names = [part.strip() for part in line.split(BOX)[1:] if part.strip()]
        if not self.edges:
            self.edges, self.labels = edges, names
            return
        unit = names[0].split()[0] if names else ""
        self.tables.append(BenchmarkTable(unit, self.labels, []))

    def _older(self, line: str) -> None:
        self.split = self._spaced
        said = re.split(r"\s{2,}", line.strip())[1:]
        unit = said[0].removeprefix("old ") if said else ""
        labels = ["old", "new"] if "delta" in said else said[:1]
        self.tables.append(BenchmarkTable(UNITS.get(unit, unit), labels, []))

    def _row(self, line: str, *, at: int) -> None:
        name, parts = self.split(line)
        table = self.tables[-1]
        if name in {"geomean", "[Geo mean]"}:
            table.means = [cell.median if cell else None for cell in _cells(parts, at=at)]
            table.changes = [_percent(found["change"]) if (found := MEAN.search(part)) else None for part in parts]
            return
        if len(table.rows) >= MOST_ROWS:
            raise TooMuch(f"It holds more than {MOST_ROWS:,} benchmarks", where=f"line {at}")
        cells = [*_cells(parts, at=at), *[None] * len(table.labels)][: max(1, len(table.labels))]
        if name and any(cells):
            table.rows.append((name, cells))
            table.alike = table.alike and all(cells)

    def _boxed(self, line: str) -> tuple[str, list[str]]:
        edges = self.edges if len(self.edges) > len(self.labels) else [*self.edges, len(line)]
        edges[-1] = max(edges[-1], len(line))
        bounds = pairwise(edges)
        return line[: edges[0]].strip(), [line[start:end].strip() for start, end in bounds]

    def _spaced(self, line: str) -> tuple[str, list[str]]:
        name, *parts = re.split(r"\s{2,}", line.strip())
        head, rest = parts[:2], parts[2:]
        if len(self.tables[-1].labels) > 1 and len(head) == 2:
            return name, [head[0], " ".join([head[1], *rest])]
        return name, head[:1]


MEAN = re.compile(r"\s(?P<change>[-+]\d[\d.]*%)\s*$")


def _cells(parts: list[str], *, at: int) -> Iterator[BenchmarkCell | None]:
    first: BenchmarkCell | None = None
    for i, part in enumerate(parts):
        cell = _cell(part, first if i else None, at=at)
        first = first or (cell if i == 0 else None)
        yield cell


def _cell(part: str, control: BenchmarkCell | None, *, at: int) -> BenchmarkCell | None:
    found = CELL.match(part)
    if found is None:
        return None
    median = float(f"{bounded_text.real(found['value'], at=at) * PREFIXES[found['prefix'] or '']:.6g}")
    spread = _percent(found["spread"]) if found["spread"] not in {None, "∞", "?"} else None
    delta = DELTA.search(part)
    if delta is None or control is None:
        return BenchmarkCell(median, 0, spread)
    n = int(delta["n"] or 0)
    m = int(delta["m"] or n)
    change = None if delta["change"] == "?" else _percent(delta["change"])
    if delta["change"] == "~":
        change = median / control.median - 1 if abs(control.median) > LEAST else None
    p = bounded_text.real(delta["p"], at=at) if delta["p"] else 0.0
    return BenchmarkCell(median, m, spread, p, change, control.median, n)


def _percent(said: str) -> float | None:
    try:
        return float(said.rstrip("%")) / 100
    except ValueError:
        return None

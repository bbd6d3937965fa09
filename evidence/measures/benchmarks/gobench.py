"""Go's benchmark output: one variant per file, or several separated by a heading or a line such as ``note: before``.

Source: golang.org/design/14313-benchmark-format. A line is ``BenchmarkName-8  1000  123 ns/op  5 allocs/op``; preceding
``key: value`` lines say where it ran. Everything else is skipped and counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evidence.measures import bounded_text
from evidence.measures.benchmarks import gotable
from evidence.measures.benchmarks.gotable import Column, Samples
from evidence.profile.errors import BadProfile, TooMuch

NAME = "go benchmark"
KIND = "benchmark"
TELLS = "it has lines of Go benchmarks"
MOST_VALUES = 60_000

RESULT = re.compile(r"(Benchmark(?![a-z])[^\s]*)\s+(\d{1,18})\s+(\S.*)")
HEAD_RESULT = re.compile(r"^Benchmark(?![a-z])\S*[ \t]+\d+[ \t]+[\d.e+-]+[ \t]+\S", re.MULTILINE)
CONFIGURATION = re.compile(r"([a-z][^\sA-Z:]*):[ \t]+(.+)")
HEADING = re.compile(r"(?:==>|--|###?|\$ cat) (\S.*?)(?: <==| --)?")  # from head -n, txtar, Markdown, a terminal
WHERE = ("goos", "goarch", "cpu")
PLACE = "pkg"
PROCESSORS = "GOMAXPROCS"
DASHES = "- "


@dataclass(slots=True)
class Benchmarks:
    """The content of one file: ``columns`` of samples in the order of the file, the first one the control.

    ``where`` holds what was the same for all of them (goos, cpu, pkg); ``skipped`` counts unusable lines.
    """

    columns: list[Column]
    where: dict[str, str] = field(default_factory=dict)
    skipped: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return plain values to be stored."""
        columns = [[column.label, column.samples] for column in self.columns]
        return {"measure": NAME, "columns": columns, "where": self.where, "skipped": self.skipped}


def from_dict(kept: Mapping[str, Any]) -> Benchmarks:
    """Return what ``as_dict`` stored."""
    columns = [Column(label, samples) for label, samples in kept["columns"]]
    return Benchmarks(columns, dict(kept["where"]), kept["skipped"])


def looks_like(head: bytes) -> bool:
    """Return whether a line has a benchmark's name, a count and a measurement."""
    return HEAD_RESULT.search(bounded_text.head(head)) is not None


def read(data: bytes) -> Benchmarks:
    """Read every result of a file. Raises BadProfile naming the line, or TooMuch."""
    found = _Reading()
    for at, line in bounded_text.lines(data):
        found.take(line.strip(), at=at)
    return found.done()


def sentence(value: Benchmarks) -> str:
    """Say in one sentence how the variants in a file differ."""
    return gotable.sentence(value.columns)


@dataclass(slots=True)
class _Result:
    name: str
    heading: str
    settings: dict[str, str]
    values: list[tuple[float, str]]


class _Reading:
    """The results read so far, and the settings and heading that apply to the next ones."""

    def __init__(self) -> None:
        self.results: list[_Result] = []
        self.settings: dict[str, str] = {}
        self.heading = ""
        self.values = self.skipped = 0

    def take(self, line: str, *, at: int) -> None:
        """Take one line."""
        if result := RESULT.fullmatch(line):
            self._result(result[1], result[3], at=at)
        elif setting := CONFIGURATION.fullmatch(line):
            self.settings[setting[1]] = setting[2].strip()[:200]
        elif heading := HEADING.fullmatch(line):
            self.heading, self.settings = heading[1].strip(DASHES)[:80], {}
        elif line and line != "PASS" and not line.startswith(("ok ", "ok\t", "Unit ", "testing:", "=== ")):
            self.skipped += 1

    def _result(self, name: str, rest: str, *, at: int) -> None:
        fields = rest.split()
        if len(fields) % 2:
            raise BadProfile(f"{name[:80]} has a value without its unit", where=f"line {at}")
        pairs = zip(fields[::2], fields[1::2], strict=True)
        values = [(bounded_text.real(value, at=at), unit[:40]) for value, unit in pairs]
        self.values += len(values)
        if self.values > MOST_VALUES:
            raise TooMuch(f"It holds more than {MOST_VALUES:,} measurements", where=f"line {at}")
        self.results.append(_Result(name[:200], self.heading, dict(self.settings), values))

    def done(self) -> Benchmarks:
        """Arrange the results. Raises BadProfile if there are none."""
        if not self.results:
            raise BadProfile("It has no benchmark results")
        said = {key for result in self.results for key in result.settings}
        differ = {key for key in said if len({result.settings.get(key) for result in self.results}) > 1}
        apart = sorted(differ - {PLACE, *WHERE})
        placed = PLACE in differ
        columns: dict[str, Samples] = {}
        for result in self.results:
            samples = columns.setdefault(_label(result, apart), {})
            row = samples.setdefault(_row(result, placed=placed), {})
            for value, unit in result.values:
                row.setdefault(unit, []).append(value)
        where = {key: self.results[0].settings[key] for key in (*WHERE, PLACE) if key in said - differ}
        ends = {_end(name) for samples in columns.values() for name in samples}
        if len(ends) == 1 and "" not in ends:
            where[PROCESSORS] = ends.pop().removeprefix("-")
        return Benchmarks([Column(label, _plain(samples)) for label, samples in columns.items()], where, self.skipped)


def elsewhere(places: Mapping[str, Mapping[str, str]]) -> str:
    """Say how the environments of the variants differ; empty if they don't, or don't say."""
    said = []
    for key in (*WHERE, PROCESSORS):
        known = {label: where[key] for label, where in places.items() if key in where}
        if len(set(known.values())) > 1:
            said.append(f"{key} {', '.join(f'{value} ({label})' for label, value in known.items())}")
    return f"Measured in different places: {'; '.join(said)}." if said else ""


def _label(result: _Result, apart: list[str]) -> str:
    parts = [result.heading, *(result.settings.get(key, "") for key in apart)]
    return " ".join(part for part in parts if part)


def _row(result: _Result, *, placed: bool) -> str:
    package = result.settings.get(PLACE, "")
    name = result.name.removeprefix("Benchmark")
    return f"{package}.{name}" if placed and package else name


def _plain(samples: Samples) -> Samples:
    """Remove the number of processors (``-8``) if all benchmarks have the same one."""
    ends = Counter(map(_end, samples))
    if len(ends) > 1 or "" in ends:
        return samples
    end = next(iter(ends))
    return {name.removesuffix(end): row for name, row in samples.items()}


def _end(name: str) -> str:
    found = re.search(r"-\d+$", name)
    return found[0] if found else ""

"""``perf trace -s``: a table of syscalls for each thread, preceded by one for all threads. Source: perf-trace(1)."""

from __future__ import annotations

import re

from evidence.measures.counting import CountColumn, CountTable

BEGINS = re.compile(r"^ (?P<comm>\S.{0,60}?) \((?P<tid>\d+)\), (?P<events>\d+) events", re.MULTILINE)
HEAD = re.compile(r"^\s+syscall\s+calls\s+(?P<errors>errors\s+)?total\s+min\s+avg\s+max\s+stddev\s*$", re.MULTILINE)
ROW = re.compile(r"\s+(?P<name>[a-z_]\w*)\s+(?P<numbers>[\d.]+(?:\s+[\d.]+){5,6})%\s*")
COLUMNS = [
    CountColumn("time", "s"), CountColumn("calls"), CountColumn("errors"), CountColumn("shortest", "s", adds=False),
    CountColumn("a call", "s", adds=False), CountColumn("longest", "s", adds=False),
]  # fmt: skip
Row = tuple[str, list[float | None]]


def looks_like(text: str) -> bool:
    """Return whether there is a heading of syscalls with their shortest, mean and longest time."""
    return HEAD.search(text) is not None


def read(text: str) -> list[CountTable]:
    """Read the table of each thread."""
    heads = list(HEAD.finditer(text))
    threads: list[CountTable] = []
    for at, head in enumerate(heads):
        end = heads[at + 1].start() if at + 1 < len(heads) else len(text)
        owner = [*BEGINS.finditer(text, 0, head.start())][-1:]
        title = f"{owner[0]['comm']} ({owner[0]['tid']})" if owner else ""
        rows = [row for line in text[head.end() : end].split("\n") if (row := _row(line, bool(head["errors"])))]
        threads.append(CountTable("perf trace", "syscall", COLUMNS, rows, title))
    return [_all(threads), *threads] if len(threads) > 1 else threads


def _row(line: str, has_errors: bool) -> Row | None:
    """Read one syscall; times are in milliseconds."""
    found = ROW.fullmatch(line)
    words = found["numbers"].split() if found else []
    if found is None or len(words) != 6 + has_errors or any(word.count(".") > 1 or len(word) > 20 for word in words):
        return None
    calls, *rest = map(float, words)
    errors = rest.pop(0) if has_errors else None
    total, least, mean, most = (float(f"{one / 1000:.12g}") for one in rest[:4])
    return found["name"], [total, calls, errors, least, mean, most]


def _all(threads: list[CountTable]) -> CountTable:
    """Add up the tables of all threads."""
    found: dict[str, list[list[float | None]]] = {}
    for table in threads:
        for name, numbers in table.rows:
            found.setdefault(name, []).append(numbers)
    return CountTable("perf trace", "syscall", COLUMNS, [(name, _sum(rows)) for name, rows in found.items()], "all")


def _sum(rows: list[list[float | None]]) -> list[float | None]:
    total, calls, errors = (sum((row[at] or 0.0 for row in rows), 0.0) for at in range(3))
    least, most = min(row[3] or 0.0 for row in rows), max(row[5] or 0.0 for row in rows)
    has_errors = any(row[2] is not None for row in rows)
    return [
        float(f"{total:.12g}"),
        calls,
        errors if has_errors else None,
        least,
        total / calls if calls else None,
        most,
    ]

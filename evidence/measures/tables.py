"""Tables to download: CSV that a spreadsheet shows but does not execute. Pure."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

from evidence.measures import counting
from evidence.measures.benchmarks import gotable
from evidence.measures.benchmarks.benchstat import Stated
from evidence.measures.benchmarks.gobench import Benchmarks
from evidence.measures.counts import CountTables
from evidence.measures.loadtest import Loads
from evidence.measures.sweeps.swept import Sweep

# A spreadsheet treats a cell that begins with one of these as a formula. Source: owasp.org, CSV injection.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%")
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[-+]?\d+)?")

Cell = str | float | None


def as_csv(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Write a table; text that a spreadsheet would execute is prefixed with an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([safe(name) for name in header])
    writer.writerows([safe(cell) for cell in row] for row in rows)
    return out.getvalue()


def safe(cell: Cell) -> str:
    """Return a cell's text, safe from execution; numbers stay numbers."""
    if cell is None:
        return ""
    if isinstance(cell, float):
        return repr(int(cell)) if cell == int(cell) else repr(cell)
    text = cell.replace("\0", "")
    if NUMBER.fullmatch(text) or not text.lstrip().startswith(FORMULA):
        return text if not text.startswith(("\t", "\r", "\n")) else f"'{text}"
    return f"'{text}"


def of_sweep(sweep: Sweep) -> str:
    """Write a sweep in long form, as it was read: medians where cells were repeated."""
    return as_csv([*sweep.axes, *sweep.values], ([*key, *numbers] for key, numbers in sweep.rows))


def of_loads(loads: Loads) -> str:
    """Write one line for each run: counts, rate, mean, longest, and every percentile in milliseconds."""
    percentages = sorted({p for run in loads.runs for p, _ in run.percentiles})
    header = ["run", "tool", "name", "requests", "failed", "requests_per_s", "mean_ms", "longest_ms"]
    rows: list[list[Cell]] = [
        [
            float(i), run.tool, run.name, _float(run.requests), _float(run.failed), run.rps, run.mean_ms,
            run.longest_ms, *(run.within(p) for p in percentages),
        ]
        for i, run in enumerate(loads.runs, start=1)
    ]  # fmt: skip
    return as_csv([*header, *(f"p{p:g}_ms" for p in percentages)], rows)


def of_counts(counts: CountTables) -> str:
    """Write one line for each row and column: the table, the key, what is counted, its unit and value."""
    rows: list[list[Cell]] = [
        [table.title, key, column.name, counting.unit_of(table, key) if table.apart and not at else column.unit, number]
        for table in counts.tables
        for key, numbers in table.rows
        for at, (column, number) in enumerate(zip(table.columns, numbers, strict=True))
    ]
    return as_csv(["table", "key", "counted", "unit", "value"], rows)


def of_benchmark(value: Benchmarks | Stated) -> str:
    """Write one line for each benchmark, unit and variant: median, n, and how it compares with the control."""
    found = value.tables if isinstance(value, Stated) else gotable.tables(value.columns)
    rows: list[list[Cell]] = [
        [name, table.unit, label, cell.median, float(cell.n), cell.spread, cell.change, cell.p]
        for table in found
        for name, cells in table.rows
        for label, cell in zip(table.labels, cells, strict=True)
        if cell
    ]
    return as_csv(["benchmark", "unit", "variant", "median", "n", "spread", "change", "p"], rows)


def _float(count: int | None) -> float | None:
    return None if count is None else float(count)

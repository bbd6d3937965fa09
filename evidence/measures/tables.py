"""Tables to take away: CSV that a spreadsheet shows and does not run. Pure."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

from evidence.measures.swept import Sweep

# A spreadsheet takes a cell that begins so for a formula. Source: owasp.org, CSV injection.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%")
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[-+]?\d+)?")

Cell = str | float | None


def as_csv(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Write a table; text that a spreadsheet would run is led by an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([safe(name) for name in header])
    writer.writerows([safe(cell) for cell in row] for row in rows)
    return out.getvalue()


def safe(cell: Cell) -> str:
    """Return a cell's text with nothing in it to be run; numbers stay numbers."""
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

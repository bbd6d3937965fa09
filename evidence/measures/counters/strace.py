"""``strace -c`` and ``ltrace -c``: columns between dashes, whichever ``-U`` selects. Source: strace(1)."""

from __future__ import annotations

import re

from evidence.measures.counting import CountColumn, CountTable

HEAD = re.compile(
    r"^(?P<head>[ \t]*(?=.*\b(?:syscall|function)\b)(?=.*(?:calls|seconds|time)).*)\n"
    r"(?P<dashes>[ ]*-+(?:[ ]+-+)+)[ ]*$",
    re.MULTILINE,
)
NUMBER = re.compile(r"\d+(\.\d+)?")
# As printed -> our column, and how many of its unit one is.
COLUMNS = {
    "seconds": (CountColumn("time", "s"), 1.0),
    "calls": (CountColumn("calls"), 1.0),
    "errors": (CountColumn("errors"), 1.0),
    "usecs/call": (CountColumn("a call", "s", adds=False), 1e-6),
    "shortest": (CountColumn("shortest", "s", adds=False), 1.0),
    "longest": (CountColumn("longest", "s", adds=False), 1.0),
}
KEYS = {"syscall", "function"}
ORDER = ("time", "calls", "errors")


def looks_like(text: str) -> bool:
    """Return whether there is a heading over dashes that names syscalls and how often they were called."""
    return HEAD.search(text) is not None


def read(text: str) -> list[CountTable]:
    """Read each table, one for every run in the file."""
    return [_table(found, text[found.end() + 1 :]) for found in HEAD.finditer(text)]


def _table(found: re.Match[str], below: str) -> CountTable:
    spans = [(dash.start(), dash.end()) for dash in re.finditer("-+", found["dashes"])]
    titles = [found["head"][low:high].strip() for low, high in _wide(spans, len(found["head"]))]
    key = next((at for at, title in enumerate(titles) if title in KEYS), len(titles) - 1)
    chosen = [(at, *COLUMNS[title]) for at, title in enumerate(titles) if title in COLUMNS]
    chosen.sort(key=lambda one: ORDER.index(one[1].name) if one[1].name in ORDER else len(ORDER))
    rows: list[tuple[str, list[float | None]]] = []
    for line in below.split("\n"):
        if not line.strip() or line.strip().startswith("--"):
            break
        cells = [line[low:high].strip() for low, high in _wide(spans, len(line))]
        if len(cells) <= key or not cells[key]:
            break
        rows.append((cells[key][:200], [_number(cells[at], times) for at, _, times in chosen]))
    return CountTable("strace", titles[key], [column for _, column, _ in chosen], rows)


def _wide(spans: list[tuple[int, int]], size: int) -> list[tuple[int, int]]:
    """Extend columns to the left, where numbers grow, and the last one to the end of the line."""
    begins = [0, *(end for _, end in spans[:-1])]
    ends = [*(end for _, end in spans[:-1]), max(size, spans[-1][1])]
    return list(zip(begins, ends, strict=True))


def _number(cell: str, times: float) -> float | None:
    return float(f"{float(cell) * times:.12g}") if NUMBER.fullmatch(cell) and len(cell) < 19 else None

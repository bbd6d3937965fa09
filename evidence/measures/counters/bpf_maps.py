"""Maps that bpftrace prints: ``@[futex]: 123``, and its histograms. Source: the bpftrace reference guide."""

from __future__ import annotations

import re

from evidence.measures.counting import CountColumn, CountTable

ENTRY = re.compile(r"^@(?P<name>\w*)(?:\[(?P<key>[^\n]{0,400}?)\])?: (?P<value>-?\d{1,20})$", re.MULTILINE)
HISTOGRAM = re.compile(
    r"^@(?P<name>\w*)(?:\[(?P<key>[^\n]{0,400}?)\])?: ?\n(?P<rows>(?:[\[(][^\n]{1,60}[\])]\s+\d+ \|[^\n]*\|\n?)+)",
    re.MULTILINE,
)
BUCKET = re.compile(r"(?P<bucket>[\[(][^\n]+?[\])])\s+(?P<count>\d{1,20}) \|")
STACK = re.compile(r"^@\w*\[\n", re.MULTILINE)
COLUMNS = [CountColumn("counts")]


def looks_like(text: str) -> bool:
    """Return whether there are entries of maps, or histograms, whose keys are not stacks."""
    return STACK.search(text) is None and (ENTRY.search(text) or HISTOGRAM.search(text)) is not None


def read(text: str) -> list[CountTable]:
    """Read each map as a table, and each histogram as one of its buckets."""
    maps: dict[str, dict[str, list[float | None]]] = {}
    for entry in ENTRY.finditer(text):
        rows = maps.setdefault(f"@{entry['name']}", {})
        rows[(entry["key"] or entry["name"] or "all")[:200]] = [float(entry["value"])]
    tables = [CountTable("bpftrace", "key", COLUMNS, list(rows.items()), name) for name, rows in maps.items()]
    return tables + [_histogram(found) for found in HISTOGRAM.finditer(text)]


def _histogram(found: re.Match[str]) -> CountTable:
    rows: list[tuple[str, list[float | None]]] = [
        (one["bucket"], [float(one["count"])]) for one in BUCKET.finditer(found["rows"])
    ]
    key = f"[{found['key']}]" if found["key"] else ""
    return CountTable("bpftrace", "bucket", COLUMNS, rows, f"@{found['name']}{key}")

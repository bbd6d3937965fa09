"""Tables of bcc's counters: syscount, funccount and similar ones. Source: github.com/iovisor/bcc, ``tools``."""

from __future__ import annotations

import re

from evidence.measures.counting import CountColumn, CountTable

HEAD = re.compile(
    r"^(?P<key>(?:PID +)?(?:SYSCALL|FUNC|COMM|NAME|PROBE|METHOD|CALL|STATE)) +(?:COUNT|CALLS)"
    r"(?P<time> +TIME \((?P<unit>us|ms|ns)\))?[ \t]*$",
    re.MULTILINE,
)
ROW = re.compile(r"(?P<key>\S.{0,199}?) +(?P<count>\d{1,20})(?: +(?P<time>\d{1,20}(?:\.\d{1,9})?))?[ \t]*")
TOP = re.compile(r"^Tracing .{1,80}, printing top (\d{1,6})\.\.\.", re.MULTILINE)
SECONDS = {"us": 1e-6, "ms": 1e-3, "ns": 1e-9}


def looks_like(text: str) -> bool:
    """Return whether there is a heading in capitals that ends in a count."""
    return HEAD.search(text) is not None


def read(text: str) -> list[CountTable]:
    """Read each table, one for every interval."""
    heads = list(HEAD.finditer(text))
    ends = [*(found.start() for found in heads[1:]), len(text)]
    most = TOP.search(text)
    top = int(most[1]) if most else 0
    return [_table(found, text[found.end() + 1 : end], top) for found, end in zip(heads, ends, strict=True)]


def _table(head: re.Match[str], below: str, top: int) -> CountTable:
    times = SECONDS[head["unit"]] if head["time"] else 0.0
    rows: dict[str, list[float | None]] = {}
    for line in below.split("\n"):
        found = ROW.fullmatch(line)
        if found is None or (times and found["time"] is None):
            break
        count = float(found["count"])
        rows[" ".join(found["key"].split())] = (
            [float(f"{float(found['time']) * times:.12g}"), count] if times else [count]
        )
    columns = [CountColumn("time", "s"), CountColumn("calls")] if times else [CountColumn("calls")]
    return CountTable("bcc", head["key"].split()[-1].lower(), columns, list(rows.items()), top=top)

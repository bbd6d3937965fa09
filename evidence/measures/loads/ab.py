"""ApacheBench. Source: httpd.apache.org/docs/2.4/programs/ab.html. It reports whole milliseconds."""

from __future__ import annotations

import re

from evidence.measures.loads.times import found, pieces, real, whole
from evidence.measures.loadtest import NOT_2XX, Run

BEGINS = re.compile(r"^(?:This is ApacheBench|Server Software:)", re.MULTILINE)
BANNER = re.compile(r"^This is ApacheBench", re.MULTILINE)
HOST, PORT = re.compile(r"^Server Hostname:\s+(\S+)", re.MULTILINE), re.compile(r"^Server Port:\s+(\d+)", re.MULTILINE)
PATH = re.compile(r"^Document Path:\s+(\S+)", re.MULTILINE)
REQUESTS = re.compile(r"^Complete requests:\s+(\d+)", re.MULTILINE)
FAILED = re.compile(r"^Failed requests:\s+(\d+)", re.MULTILINE)
REFUSED = re.compile(r"^Non-2xx responses:\s+(\d+)", re.MULTILINE)
KEPT = re.compile(r"^Keep-Alive requests:\s+(\d+)", re.MULTILINE)
CLIENTS = re.compile(r"^Concurrency Level:\s+(\d+)", re.MULTILINE)
TOOK = re.compile(r"^Time taken for tests:\s+([\d.]+) seconds", re.MULTILINE)
RATE = re.compile(r"^Requests per second:\s+([\d.]+)", re.MULTILINE)
MEAN = re.compile(r"^Time per request:\s+([\d.]+) \[ms\] \(mean\)", re.MULTILINE)
TOTAL = re.compile(r"^Total:\s+\d+\s+(\d+)\s", re.MULTILINE)
WITHIN = re.compile(r"^[ \t]+(\d+)%\s+(\d+)\b", re.MULTILINE)


def looks_like(text: str) -> bool:
    """Return whether ApacheBench wrote this."""
    return ("Concurrency Level:" in text and "Time per request:" in text) or BANNER.search(text) is not None


def read(text: str) -> list[Run]:
    """Read each report."""
    begins = BANNER if BANNER.search(text) else BEGINS
    return [_run(piece) for piece in pieces(text, begins)]


def _run(text: str) -> Run:
    within = [(float(p), float(ms)) for p, ms in WITHIN.findall(text.partition("served within")[2])]
    refused = whole(found(REFUSED, text))
    return Run(
        "ab",
        name=_name(text),
        requests=whole(found(REQUESTS, text)),
        failed=whole(found(FAILED, text)),
        rps=real(found(RATE, text)),
        mean_ms=real(found(TOTAL, text)) if found(MEAN, text) is None else real(found(MEAN, text)),
        longest_ms=next((ms for p, ms in within if p == 100), None),
        percentiles=[(p, ms) for p, ms in within if p < 100],
        concurrency=whole(found(CLIENTS, text)),
        duration_s=real(found(TOOK, text)),
        keep_alive=whole(found(KEPT, text)),
        notes=[f"{refused:,} {NOT_2XX}"] if refused else [],
    )


def _name(text: str) -> str:
    host, port, path = found(HOST, text), found(PORT, text), found(PATH, text)
    return f"{host}{f':{port}' if port else ''}{path or ''}"[:200] if host else ""

"""wrk and wrk2 with --latency. Source: github.com/wg/wrk and github.com/giltene/wrk2, their printers."""

from __future__ import annotations

import re

from evidence.measures.loads.times import found, ms, pieces, real, whole
from evidence.measures.loadtest import Run

BEGINS = re.compile(r"^Running \S+ test @ ", re.MULTILINE)
TARGET = re.compile(r"^Running \S+ test @ (\S+)", re.MULTILINE)
CLIENTS = re.compile(r"^[ \t]+\d+ threads and (\d+) connections", re.MULTILINE)
LATENCY = re.compile(r"^[ \t]+Latency\s+(\d\S*)\s+\S+\s+(\d\S*)", re.MULTILINE)
WITHIN = re.compile(r"^[ \t]*(\d+(?:\.\d+)?)%\s+(\d\S*)\s*$", re.MULTILINE)
DONE = re.compile(r"^[ \t]+(\d+) requests in ", re.MULTILINE)
TOOK = re.compile(r"^[ \t]+\d+ requests in (\d\S*?),", re.MULTILINE)
RATE = re.compile(r"^Requests/sec:\s+([\d.]+)", re.MULTILINE)
SOCKETS = re.compile(r"^[ \t]+Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", re.MULTILINE)
REFUSED = re.compile(r"^[ \t]+Non-2xx or 3xx responses: (\d+)", re.MULTILINE)
CORRECTED = "Recorded Latency"
UNCORRECTED = "Uncorrected Latency"


def looks_like(text: str) -> bool:
    """Return whether wrk wrote this."""
    return BEGINS.search(text) is not None and "Thread Stats" in text


def read(text: str) -> list[Run]:
    """Read each report."""
    return [_run(piece) for piece in pieces(text, BEGINS)]


def _run(text: str) -> Run:
    latency = LATENCY.search(text)
    distribution = text.partition("Latency Distribution")[2]
    distribution = distribution.partition("Detailed Percentile spectrum")[0].partition(UNCORRECTED)[0]
    within = [(float(p), ms(said)) for p, said in WITHIN.findall(distribution)]
    sockets = SOCKETS.search(text)
    return Run(
        "wrk2" if CORRECTED in text else "wrk",
        name=(found(TARGET, text) or "")[:200],
        requests=whole(found(DONE, text)),
        failed=sum(int(count) for count in sockets.groups()) + _refused(text) if sockets else _refused(text),
        rps=real(found(RATE, text)),
        mean_ms=ms(latency[1]) if latency else None,
        longest_ms=next((value for p, value in within if p == 100), ms(latency[2]) if latency else None),
        percentiles=[(p, value) for p, value in within if p < 100],
        concurrency=whole(found(CLIENTS, text)),
        duration_s=ms(took) / 1000 if (took := found(TOOK, text)) else None,
        notes=_notes(text),
    )


def _refused(text: str) -> int:
    return whole(found(REFUSED, text)) or 0


def _notes(text: str) -> list[str]:
    if CORRECTED in text:
        return ["measured from when each request was due, at a constant rate"]
    return ["the client waits for each response before sending the next request, so long tails may be hidden"]

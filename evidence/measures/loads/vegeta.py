"""vegeta's report as text. Source: github.com/tsenart/vegeta, its reporters."""

from __future__ import annotations

import re

from evidence.measures.loads.times import found, ms, pieces, real, whole
from evidence.measures.loadtest import Run

BEGINS = re.compile(r"^Requests\s+\[total, rate", re.MULTILINE)
REQUESTS = re.compile(r"^Requests\s+\[[^\]]*\]\s+(\d+)", re.MULTILINE)
RATE = re.compile(r"^Requests\s+\[[^\]]*\]\s+\d+, ([\d.]+)", re.MULTILINE)
LATENCIES = re.compile(r"^Latencies\s+\[([^\]]*)\]\s+(.+)$", re.MULTILINE)
SUCCESS = re.compile(r"^Success\s+\[ratio\]\s+([\d.]+)%", re.MULTILINE)


def looks_like(text: str) -> bool:
    """Tell whether vegeta wrote this."""
    return BEGINS.search(text) is not None and LATENCIES.search(text) is not None


def read(text: str) -> list[Run]:
    """Read each report."""
    return [_run(piece) for piece in pieces(text, BEGINS)]


def _run(text: str) -> Run:
    latencies = LATENCIES.search(text)
    names, values = (part.split(", ") for part in latencies.groups()) if latencies else ([], [])
    said = {name: ms(value) for name, value in zip(names, values, strict=False)}
    requests, success = whole(found(REQUESTS, text)), real(found(SUCCESS, text))
    return Run(
        "vegeta",
        requests=requests,
        failed=round(requests * (1 - success / 100)) if requests is not None and success is not None else None,
        rps=real(found(RATE, text)),
        mean_ms=said.get("mean"),
        longest_ms=said.get("max"),
        percentiles=sorted((float(name), value) for name, value in said.items() if name.isdecimal()),
    )

"""vegeta's report as text. Source: github.com/tsenart/vegeta, its reporters.

It rounds the share that succeeded, codes from 200 to 399, to a hundredth of a per cent; the counts of each code are
exact. Code 0 means no response.
"""

from __future__ import annotations

import re

from evidence.measures.loads.times import found, ms, pieces, real, whole
from evidence.measures.loadtest import Run

BEGINS = re.compile(r"^Requests\s+\[total, rate", re.MULTILINE)
REQUESTS = re.compile(r"^Requests\s+\[[^\]]*\]\s+(\d+)", re.MULTILINE)
RATE = re.compile(r"^Requests\s+\[[^\]]*\]\s+\d+, ([\d.]+)", re.MULTILINE)
LATENCIES = re.compile(r"^Latencies\s+\[([^\]]*)\]\s+(.+)$", re.MULTILINE)
CODES = re.compile(r"^[ \t]*Status Codes[ \t]+\[code:count\]([ \t\d:]*)$", re.MULTILINE)
CODE = re.compile(r"\b(\d{1,4}):(\d{1,15})\b")
EXACT = 10_000  # number of requests up to which a hundredth of a per cent says how many failed
SUCCESS = re.compile(r"^Success\s+\[ratio\]\s+([\d.]+)%", re.MULTILINE)


def looks_like(text: str) -> bool:
    """Return whether vegeta wrote this."""
    return BEGINS.search(text) is not None and LATENCIES.search(text) is not None


def read(text: str) -> list[Run]:
    """Read each report."""
    return [_run(piece) for piece in pieces(text, BEGINS)]


def _run(text: str) -> Run:
    latencies = LATENCIES.search(text)
    names, values = (part.split(", ") for part in latencies.groups()) if latencies else ([], [])
    said = {name: ms(value) for name, value in zip(names, values, strict=False)}
    requests, success = whole(found(REQUESTS, text)), real(found(SUCCESS, text))
    failed = _failed(text, requests, success)
    return Run(
        "vegeta",
        requests=requests,
        failed=failed,
        rps=real(found(RATE, text)),
        mean_ms=said.get("mean"),
        longest_ms=said.get("max"),
        percentiles=sorted((float(name), value) for name, value in said.items() if name.isdecimal()),
        notes=[f"{success:.2f} % succeeded"] if failed is None and success is not None else [],
    )


def _failed(text: str, requests: int | None, success: float | None) -> int | None:
    """Return how many requests failed, None if the report is not exact enough to say."""
    if codes := CODE.findall(found(CODES, text) or ""):
        return sum(int(count) for code, count in codes if not 200 <= int(code) < 400)
    if requests is None or success is None or requests >= EXACT:
        return None
    return round(requests * (1 - success / 100))

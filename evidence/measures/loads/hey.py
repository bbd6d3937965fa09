"""hey. Source: github.com/rakyll/hey, its printer. Errors are not among its latencies."""

from __future__ import annotations

import re

from evidence.measures.loads.times import found, ms, pieces, real
from evidence.measures.loadtest import Run

BEGINS = re.compile(r"^Summary:\s*$", re.MULTILINE)
RATE = re.compile(r"^[ \t]*Requests/sec:\s+([\d.]+)", re.MULTILINE)
TOOK = re.compile(r"^[ \t]*Total:\s+(\d[\d.]*\s*[a-zµ]*)", re.MULTILINE)
LONGEST = re.compile(r"^[ \t]*Slowest:\s+(\d[\d.]*\s*[a-zµ]*)", re.MULTILINE)
MEAN = re.compile(r"^[ \t]*Average:\s+(\d[\d.]*\s*[a-zµ]*)", re.MULTILINE)
WITHIN = re.compile(r"^[ \t]+(\d+(?:\.\d+)?)%+ in (\d[\d.]*\s*[a-zµ]+)", re.MULTILINE)
ANSWERS = re.compile(r"^[ \t]*\[(\d{3})\]\s+(\d+) responses", re.MULTILINE)
ERRORS = re.compile(r"^[ \t]*\[(\d+)\]\s+(?!\d+ responses)\S", re.MULTILINE)


def looks_like(text: str) -> bool:
    """Tell whether hey wrote this."""
    return BEGINS.search(text) is not None and "Requests/sec:" in text and "Latency distribution:" in text


def read(text: str) -> list[Run]:
    """Read each report."""
    return [report(piece, tool="hey") for piece in pieces(text, BEGINS)]


def report(text: str, *, tool: str) -> Run:
    """Read a report in the form that hey and oha share."""
    answers = {code: int(count) for code, count in ANSWERS.findall(text)}
    errors = sum(int(count) for count in ERRORS.findall(text.partition("Error distribution")[2]))
    refused = sum(count for code, count in answers.items() if code >= "400")
    return Run(
        tool,
        requests=sum(answers.values()) + errors if answers or errors else None,
        failed=errors + refused if answers or errors else None,
        rps=real(found(RATE, text)),
        mean_ms=_ms(found(MEAN, text)),
        longest_ms=_ms(found(LONGEST, text)),
        percentiles=[(float(p), ms(said)) for p, said in WITHIN.findall(text)],
        duration_s=(_ms(found(TOOK, text)) or 0) / 1000 or None,
        notes=[f"{errors:,} errors aren't included in the latencies"] if errors else [],
    )


def _ms(said: str | None) -> float | None:
    return ms(said if not said[-1].isdigit() else f"{said} secs") if said else None

"""hey. Source: github.com/rakyll/hey, its printer. Its latencies do not include errors."""

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
ERRORS = re.compile(r"^[ \t]*\[(\d+)\]\s+(?!\d+ responses)(\S.*)", re.MULTILINE)
# oha's name for requests that were still open when its time (``-z``) was over: its success rate leaves them out.
CUT_OFF = "aborted due to deadline"


def looks_like(text: str) -> bool:
    """Return whether hey wrote this."""
    return BEGINS.search(text) is not None and "Requests/sec:" in text and "Latency distribution:" in text


def read(text: str) -> list[Run]:
    """Read each report."""
    return [report(piece, tool="hey") for piece in pieces(text, BEGINS)]


def report(text: str, *, tool: str) -> Run:
    """Read a report in the form that hey and oha share."""
    answers = {code: int(count) for code, count in ANSWERS.findall(text)}
    said = ERRORS.findall(text.partition("Error distribution")[2])
    errors = sum(int(count) for count, what in said if what.strip() != CUT_OFF)
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
        notes=notes(errors, cut_off=sum(int(count) for count, what in said if what.strip() == CUT_OFF)),
    )


def notes(errors: int, *, cut_off: int) -> list[str]:
    """Say what the latencies leave out."""
    found = [f"{errors:,} errors aren't included in the latencies"] if errors else []
    return [*found, f"{cut_off:,} requests were cut off by the end of the test"] if cut_off else found


def _ms(said: str | None) -> float | None:
    return ms(said if not said[-1].isdigit() else f"{said} secs") if said else None

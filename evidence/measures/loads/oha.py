"""oha, as text and as JSON. Source: github.com/hatoo/oha, its printer and schema.json: times are seconds."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from evidence.measures.loads import hey
from evidence.measures.loads.times import finite, found, pieces
from evidence.measures.loadtest import Run
from evidence.profile.errors import BadProfile

SUCCESS = re.compile(r"^[ \t]*Success rate:\s+([\d.]+)%", re.MULTILINE)


def looks_like(text: str) -> bool:
    """Return whether oha wrote this."""
    if text.lstrip().startswith("{"):
        return '"latencyPercentiles"' in text and '"requestsPerSec"' in text
    return "Success rate:" in text and "Response time distribution:" in text


def read(text: str) -> list[Run]:
    """Read each report. Raises BadProfile for malformed JSON."""
    if not text.lstrip().startswith("{"):
        return [_text(piece) for piece in pieces(text, hey.BEGINS)]
    try:
        return [_json(json.loads(text))]
    except (ValueError, RecursionError, TypeError, AttributeError, KeyError, OverflowError) as error:
        raise BadProfile("This looks like oha JSON, but it's malformed", where=str(error)[:100]) from None


def _text(text: str) -> Run:
    run = hey.report(text, tool="oha")
    if run.failed is None and (rate := found(SUCCESS, text)):
        run.notes.append(f"{rate} % succeeded")
    return run


def _json(said: Mapping[str, Any]) -> Run:
    summary = said["summary"]
    answers = {str(code): int(count) for code, count in (said.get("statusCodeDistribution") or {}).items()}
    counts = {str(what): int(count) for what, count in (said.get("errorDistribution") or {}).items()}
    cut_off = counts.pop(hey.CUT_OFF, 0)
    errors = sum(counts.values())
    within = (said.get("latencyPercentiles") or {}).items()
    return Run(
        "oha",
        requests=sum(answers.values()) + errors,
        failed=errors + sum(count for code, count in answers.items() if code >= "400"),
        rps=finite(summary.get("requestsPerSec")),
        mean_ms=_ms(summary.get("average")),
        longest_ms=_ms(summary.get("slowest")),
        percentiles=[(float(p.removeprefix("p")), found) for p, s in within if (found := _ms(s)) is not None],
        duration_s=finite(summary.get("total")),
        notes=hey.notes(errors, cut_off=cut_off),
    )


def _ms(value: object) -> float | None:
    seconds = finite(value)
    return None if seconds is None else round(seconds * 1000, 9)

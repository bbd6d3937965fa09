"""k6: its end-of-test summary, before and since version 1, and as JSON (--summary-export, handleSummary).

Source: grafana.com/docs/k6, end of test. ``http_req_failed`` counts failures, so its ``passes`` are the failed ones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from evidence.measures.loads.times import finite, found, ms, pieces, real, whole
from evidence.measures.loadtest import Run
from evidence.profile.errors import BadProfile

DURATION = re.compile(r"^[ \t✓✗]*http_req_duration\.*:\s+(avg=.*)$", re.MULTILINE)
BEGINS = re.compile(r"^[ \t✓✗]*http_req_duration\.*:\s+avg=", re.MULTILINE)
STATISTIC = re.compile(r"(avg|min|med|max|p\(\d+(?:\.\d+)?\))=(\S+)")
FAILED_BEFORE = re.compile(r"^[ \t✓✗]*http_req_failed\.*:\s+[\d.]+%\s+✓\s+(\d+)\s+✗\s+\d+", re.MULTILINE)
FAILED_SINCE = re.compile(r"^[ \t✓✗]*http_req_failed\.*:\s+[\d.]+%\s+(\d+) out of \d+", re.MULTILINE)
REQUESTS = re.compile(r"^[ \t✓✗]*http_reqs\.*:\s+(\d+)\s", re.MULTILINE)
RATE = re.compile(r"^[ \t✓✗]*http_reqs\.*:\s+\d+\s+([\d.]+)/s", re.MULTILINE)
CLIENTS = re.compile(r"^[ \t✓✗]*vus_max\.*:\s+(\d+)\s", re.MULTILINE)


def looks_like(text: str) -> bool:
    """Return whether k6 wrote this."""
    if text.lstrip().startswith("{"):
        return '"metrics"' in text and '"http_req_duration"' in text
    return BEGINS.search(text) is not None


def read(text: str) -> list[Run]:
    """Read each summary. Raises BadProfile for malformed JSON."""
    if not text.lstrip().startswith("{"):
        return [_text(piece) for piece in pieces(text, BEGINS)]
    try:
        return [_json(json.loads(text)["metrics"])]
    except (ValueError, RecursionError, TypeError, AttributeError, KeyError, OverflowError) as error:
        raise BadProfile("This looks like k6 JSON, but it's malformed", where=str(error)[:100]) from None


def _text(text: str) -> Run:
    said = dict(STATISTIC.findall(found(DURATION, text) or ""))
    statistics = {name: ms(value) for name, value in said.items()}
    return Run(
        "k6",
        requests=whole(found(REQUESTS, text)),
        failed=whole(found(FAILED_SINCE, text) or found(FAILED_BEFORE, text)),
        rps=real(found(RATE, text)),
        mean_ms=statistics.get("avg"),
        longest_ms=statistics.get("max"),
        percentiles=_percentiles(statistics),
        concurrency=whole(found(CLIENTS, text)),
    )


def _json(metrics: Mapping[str, Any]) -> Run:
    times, counted = _values(metrics, "http_req_duration"), _values(metrics, "http_reqs")
    return Run(
        "k6",
        requests=_count(counted.get("count")),
        failed=_count(_values(metrics, "http_req_failed").get("passes")),
        rps=finite(counted.get("rate")),
        mean_ms=finite(times.get("avg")),
        longest_ms=finite(times.get("max")),
        percentiles=_percentiles({name: ms for name, value in times.items() if (ms := finite(value)) is not None}),
    )


def _values(metrics: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    metric = metrics.get(name, {})
    values: Mapping[str, Any] = metric.get("values", metric)
    return values


def _percentiles(statistics: Mapping[str, float]) -> list[tuple[float, float]]:
    names = ((name, "50" if name == "med" else name[2:-1]) for name in statistics if name == "med" or name[:2] == "p(")
    return sorted((float(p), statistics[name]) for name, p in names)


def _count(value: object) -> int | None:
    number = finite(value)
    return None if number is None else int(number)

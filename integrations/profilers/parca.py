"""Parca: its query service's HTTP API, which returns a merged pprof profile as base64 in JSON."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from datetime import UTC, datetime
from urllib.parse import urlencode

from integrations.profilers import answers, asking
from integrations.profilers.sources import Listed
from workflows.ports import Captured

NAMES = {
    "cpu": "process_cpu:cpu:nanoseconds:cpu:nanoseconds:delta",
    "wall": "fgprof:time:nanoseconds:wallclock:nanoseconds:delta",
    "heap": "memory:inuse_space:bytes:space:bytes",
    "allocs": "memory:alloc_space:bytes:space:bytes",
    "goroutine": "goroutine:goroutine:count:goroutine:count",
    "block": "block:delay:nanoseconds:contentions:count",
    "mutex": "mutex:delay:nanoseconds:contentions:count",
}


def capture(source: Listed, kind: str, *, seconds: int, at: datetime, environ: Mapping[str, str]) -> Captured:
    """Request the merged profile of a time window."""
    begin, end = answers.window(at, seconds)
    query = f"{answers.name_of(source, kind, NAMES)}{source.query}"
    asked = {
        "mode": "MODE_MERGE",
        "merge.query": query,
        "merge.start": _rfc3339(begin),
        "merge.end": _rfc3339(end),
        "reportType": "REPORT_TYPE_PPROF",
    }
    path = f"/api/profiles/query?{urlencode(asked)}"
    found = answers.parsed(source, asking.get(source, path, environ=environ, patience_s=answers.PATIENCE_S))
    try:
        profile = base64.b64decode(found.get("pprof") or "", validate=True)
    except (binascii.Error, TypeError, ValueError) as error:
        raise answers.strange(source) from error
    if not answers.has_samples(profile):
        raise answers.nothing(source, query)
    file = answers.file_of([profile])
    return Captured(body=file, file_name=f"{source.name}-{kind}.pb.gz", query=query, window=(begin, end))


def _rfc3339(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

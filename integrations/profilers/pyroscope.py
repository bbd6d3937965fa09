"""Grafana Pyroscope: its Connect API, which merges a window's data into one pprof profile.

The protobuf answer contains the profile verbatim, so it is cut out without being parsed. Field numbers are from
Pyroscope's `querier/v1/querier.proto`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from integrations.profilers import answers, asking, protobuf
from integrations.profilers.sources import Listed
from workflows.ports import Captured

SERVICE = "/querier.v1.QuerierService"
NAMES = {
    "cpu": "process_cpu:cpu:nanoseconds:cpu:nanoseconds",
    "wall": "wall:wall:nanoseconds:wall:nanoseconds",
    "heap": "memory:inuse_space:bytes:space:bytes",
    "allocs": "memory:alloc_space:bytes:space:bytes",
    "goroutine": "goroutine:goroutine:count:goroutine:count",
    "block": "block:delay:nanoseconds:contentions:count",
    "mutex": "mutex:delay:nanoseconds:contentions:count",
}
TYPE, SELECTOR, START, END, FORMAT = 1, 2, 3, 4, 6
PPROF = 4  # PROFILE_FORMAT_PPROF
ANSWER_PPROF, PPROF_PROFILE = 5, 1


def capture(source: Listed, kind: str, *, seconds: int, at: datetime, environ: Mapping[str, str]) -> Captured:
    """Request the merged profile of a time window; an older server gets the render call that this API replaced."""
    name, (begin, end) = answers.name_of(source, kind, NAMES), answers.window(at, seconds)
    query = f"{name}{source.query}"
    body = (
        protobuf.text(TYPE, name)
        + protobuf.text(SELECTOR, source.query)
        + protobuf.number(START, round(begin.timestamp() * 1000))
        + protobuf.number(END, round(end.timestamp() * 1000))
    )
    profile = _merged(source, body, environ) or _older(source, body, environ)
    if not answers.has_samples(profile):
        raise answers.nothing(source, query)
    file = answers.file_of([profile])
    return Captured(body=file, file_name=f"{source.name}-{kind}.pb", query=query, window=(begin, end))


def _merged(source: Listed, body: bytes, environ: Mapping[str, str]) -> bytes:
    """Return the profile; empty when the server does not know the format and returned a flame graph."""
    answer = _asked(source, "SelectMergeStacktraces", body + protobuf.number(FORMAT, PPROF), environ)
    try:
        wrapped = protobuf.part(memoryview(answer), ANSWER_PPROF)
        profile = protobuf.part(wrapped, PPROF_PROFILE) if wrapped is not None else None
    except protobuf.MalformedMessage as broken:
        raise answers.strange(source) from broken
    return bytes(profile or b"")


def _older(source: Listed, body: bytes, environ: Mapping[str, str]) -> bytes:
    return _asked(source, "SelectMergeProfile", body, environ)


def _asked(source: Listed, method: str, body: bytes, environ: Mapping[str, str]) -> bytes:
    answer = asking.post(
        source, f"{SERVICE}/{method}", body, type="application/proto", environ=environ, patience_s=answers.PATIENCE_S
    )
    with answer.body as file:
        return file.read()

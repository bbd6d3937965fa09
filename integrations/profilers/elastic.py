"""Elastic Universal Profiling: use its flame graph API, and convert the nodes to folded stacks.

The API is internal to Elastic and may change. It only profiles CPU.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from integrations.profilers import answers, asking
from integrations.profilers.sources import Listed
from workflows.ports import Captured

SAMPLES = 20_000  # how many events Elastic may read; its own default
KERNEL = 4  # the frame type of kernel functions


def capture(source: Listed, kind: str, *, seconds: int, at: datetime, environ: Mapping[str, str]) -> Captured:
    """Request the flame graph of a time window."""
    begin, end = answers.window(at, seconds)
    query = _query(source, begin, end)
    body = json.dumps({"sample_size": SAMPLES, "requested_duration": seconds, "query": query}).encode()
    answer = asking.post(
        source,
        "/_profiling/flamegraph",
        body,
        type="application/json",
        environ=environ,
        patience_s=answers.PATIENCE_S,
    )
    try:
        lines = list(folded(answers.parsed(source, answer)))
    except (KeyError, TypeError, IndexError) as error:
        raise answers.strange(source) from error
    if not lines:
        raise answers.nothing(source, source.query or "every service")
    return Captured(
        body=answers.file_of(lines),
        file_name=f"{source.name}-{kind}.folded",
        query=json.dumps(query),
        window=(begin, end),
        unit="samples",
    )


def _query(source: Listed, begin: datetime, end: datetime) -> dict[str, Any]:
    span = {"gte": int(begin.timestamp()), "lt": int(end.timestamp()), "format": "epoch_second"}
    filters: list[Any] = [{"range": {"@timestamp": span}}]
    return {"bool": {"filter": [*filters, json.loads(source.query)] if source.query else filters}}


def folded(found: Mapping[str, Any]) -> Iterator[bytes]:
    """Yield a folded stack for each node with samples of its own; node 0 is the root.

    The answer has columns with one value per node; ``Edges`` lists each node's children.
    """
    edges, own = found["Edges"], found["CountExclusive"]
    paths: list[tuple[int, str]] = [(0, "")]
    while paths:
        node, path = paths.pop()
        if own[node] and path:
            yield f"{path} {own[node]}\n".encode()
        for child in edges[node]:
            name = _name(found, child)
            paths.append((child, f"{path};{name}" if path else name))


def _name(found: Mapping[str, Any], node: int) -> str:
    name = found["FunctionName"][node] or found["ExeFilename"][node] or "[unknown]"
    return " ".join(str(name).replace(";", ":").split()) + ("_[k]" if found["FrameType"][node] == KERNEL else "")

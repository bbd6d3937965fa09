"""Elasticsearch with Universal Profiling."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from integrations.profilers.fake.serving import Fake, SourceReply, SourceRequest

ALLOWED = {"sample_size", "requested_duration", "query", "limit", "indices", "stacktrace_ids_field"}
# Columns with one value per node: main;serve;price 60, main;serve;charge 30, and 10 in the kernel.
FLAMEGRAPH: dict[str, Any] = {
    "Edges": [[1, 4], [2], [3, 5], [], [], []],
    "FunctionName": ["", "main", "serve", "price", "", "charge"],
    "ExeFilename": ["", "checkout", "checkout", "checkout", "vmlinux", "checkout"],
    "FrameType": [0, 3, 3, 3, 4, 3],
    "CountExclusive": [0, 0, 0, 60, 10, 30],
    "CountInclusive": [100, 90, 90, 60, 10, 30],
    "Size": 6,
}


@dataclass
class FakeElastic(Fake):
    """``user`` and password, joined by a colon as in HTTP, are required if set."""

    authorization: str = ""
    empty: bool = False

    def __post_init__(self) -> None:
        super().__init__()

    def answer(self, asked: SourceRequest) -> SourceReply:
        """Return a window's flame graph, or the error of a bad request."""
        if self.authorization and asked.headers.get("Authorization") != self.authorization:
            return SourceReply(401, b'{"error":{"type":"security_exception"},"status":401}')
        if (asked.method, asked.path) != ("POST", "/_profiling/flamegraph"):
            return SourceReply(404, b'{"error":"no handler found"}')
        body = json.loads(asked.body)
        spans = [one for one in body["query"]["bool"]["filter"] if "range" in one]
        if set(body) - ALLOWED or not spans or spans[0]["range"]["@timestamp"]["format"] != "epoch_second":
            return SourceReply(400, b'{"error":{"type":"parsing_exception"},"status":400}')
        found = {name: [] for name in FLAMEGRAPH} | {"Edges": [[]], "CountExclusive": [0]} if self.empty else FLAMEGRAPH
        return SourceReply(200, json.dumps(found).encode(), {"Content-Type": "application/json"})

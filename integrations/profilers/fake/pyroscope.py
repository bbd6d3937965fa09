"""A Pyroscope server: its Connect API in protobuf, and the older render call."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from integrations.profilers import protobuf
from integrations.profilers.fake.profile import pprof
from integrations.profilers.fake.serving import Fake, SourceReply, SourceRequest

SERVICE = "/querier.v1.QuerierService/"
# A profile without samples: the querier writes every window's time and length into the merged profile.
NOTHING = protobuf.number(9, 1_763_600_400_000_000_000) + protobuf.number(10, 60_000_000_000)
TYPE = re.compile(r"[a-z_]+(:[a-z_]+){4}")
# main;serve;price 60, main;serve;charge 30, main;idle 10, as the levels of a flame graph with four numbers per box.
FLAMEBEARER: dict[str, Any] = {
    "names": ["total", "main", "serve", "idle", "price", "charge"],
    "levels": [[0, 100, 0, 0], [0, 100, 0, 1], [0, 10, 10, 3, 0, 90, 0, 2], [10, 30, 30, 5, 0, 60, 60, 4]],
    "numTicks": 100,
    "maxSelf": 60,
}


@dataclass
class FakePyroscope(Fake):
    """With ``old`` it does not know the pprof format and returns a flame graph; with ``empty`` it has no samples.

    ``tenant`` is required if set.
    """

    old: bool = False
    empty: bool = False
    tenant: str = ""
    metadata: Mapping[str, Any] = field(default_factory=lambda: {"units": "samples", "sampleRate": 1_000_000_000})

    def __post_init__(self) -> None:
        super().__init__()

    def answer(self, asked: SourceRequest) -> SourceReply:
        """Answer one of the calls."""
        if self.tenant and asked.headers.get("X-Scope-OrgID") != self.tenant:
            return SourceReply(401, b"no org id\n")
        if asked.path == "/pyroscope/render":
            return self._render(asked)
        if not asked.path.startswith(SERVICE):
            return SourceReply(404, b"404 page not found\n")
        return self._connect(asked, asked.path.removeprefix(SERVICE))

    def _connect(self, asked: SourceRequest, method: str) -> SourceReply:
        if asked.method != "POST" or asked.headers.get("Content-Type") != "application/proto":
            return SourceReply(415)
        message = memoryview(asked.body)
        type, selector = (bytes(protobuf.part(message, one) or b"").decode() for one in (1, 2))
        if not TYPE.fullmatch(type) or not selector.startswith("{"):
            return SourceReply(400, b'{"code":"invalid_argument","message":"parse error"}')
        if method == "SelectMergeProfile":
            return _proto(NOTHING if self.empty else gzip.decompress(pprof()))
        profile = b"" if self.empty else gzip.decompress(pprof())
        if method != "SelectMergeStacktraces":
            return SourceReply(404)
        if self.old:
            return _proto(_wrapped(1, b"\x1a\x00"))
        return _proto(_wrapped(5, _wrapped(1, profile)) if profile else b"")

    def _render(self, asked: SourceRequest) -> SourceReply:
        if not asked.one("query") or not asked.one("from").isdigit() or not asked.one("until").isdigit():
            return SourceReply(400, b"bad query\n")
        found = {"names": ["total"], "levels": [[0, 0, 0, 0]]} if self.empty else FLAMEBEARER
        body = {"version": 1, "flamebearer": found, "metadata": self.metadata, "timeline": None}
        return SourceReply(200, json.dumps(body).encode(), {"Content-Type": "application/json"})


def _wrapped(field: int, body: bytes) -> bytes:
    head = protobuf.text(field, "a" * len(body))
    return head[: len(head) - len(body)] + body


def _proto(body: bytes) -> SourceReply:
    return SourceReply(200, body, {"Content-Type": "application/proto"})

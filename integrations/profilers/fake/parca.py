"""A Parca server: the HTTP API of its query service."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import dataclass
from datetime import datetime

from integrations.profilers import protobuf
from integrations.profilers.fake.profile import pprof
from integrations.profilers.fake.serving import Fake, SourceReply, SourceRequest

# Its result for a window without samples (pkg/query/pprof.go): a profile with only a type and its names.
NOTHING = gzip.compress(
    b"\x0a\x04\x08\x01\x10\x02" + b"".join(protobuf.text(6, one) for one in ("", "cpu", "nanoseconds"))
)


@dataclass
class FakeParca(Fake):
    """``empty`` has no samples in any window."""

    empty: bool = False

    def __post_init__(self) -> None:
        super().__init__()

    def answer(self, asked: SourceRequest) -> SourceReply:
        """Return a window's merged profile, or the error of a bad request."""
        if asked.path != "/api/profiles/query" or asked.method != "GET":
            return SourceReply(404, b'{"code":5,"message":"Not Found"}')
        if asked.one("mode") != "MODE_MERGE" or asked.one("reportType") != "REPORT_TYPE_PPROF":
            return _wrong("unsupported mode")
        try:
            begin, end = (datetime.fromisoformat(asked.one(f"merge.{one}")) for one in ("start", "end"))
        except ValueError:
            return _wrong("invalid timestamp")
        if begin >= end or "{" not in asked.one("merge.query"):
            return _wrong("invalid query")
        found = {"pprof": base64.b64encode(NOTHING if self.empty else pprof()).decode(), "total": "0", "filtered": "0"}
        return SourceReply(200, json.dumps(found).encode(), {"Content-Type": "application/json"})


def _wrong(says: str) -> SourceReply:
    return SourceReply(400, json.dumps({"code": 3, "message": says}).encode())

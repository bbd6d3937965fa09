"""A Go program with ``net/http/pprof`` in it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from integrations.profilers.fake.profile import pprof
from integrations.profilers.fake.serving import Fake, SourceReply, SourceRequest

KINDS = {"profile", "heap", "allocs", "goroutine", "block", "mutex", "threadcreate"}
PREFIX = "/debug/pprof/"
BUSY = b"Could not enable CPU profiling: cpu profiling already in use\n"


@dataclass
class FakePprof(Fake):
    """Takes one CPU profile at a time. ``pace`` is the real length of a second; ``busy`` means one is being taken."""

    pace: float = 0.0
    busy: bool = False
    body: bytes = b""
    began: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        super().__init__()
        self.body = self.body or pprof()
        self._profiling = threading.Lock()

    def answer(self, asked: SourceRequest) -> SourceReply:
        """Answer as the handlers of Go's package do, with 404 for an unknown profile."""
        kind, seconds = asked.path.removeprefix(PREFIX), asked.one("seconds", "30")
        if asked.method != "GET" or not asked.path.startswith(PREFIX) or kind not in KINDS:
            return SourceReply(404, b"Unknown profile\n")
        if not seconds.isdigit():
            return SourceReply(400, b"invalid value for seconds\n")
        if kind != "profile":
            return self._taken()
        if self.busy or not self._profiling.acquire(blocking=False):
            return SourceReply(500, BUSY, {"X-Go-Pprof": "1"})
        try:
            self.began.set()
            threading.Event().wait(int(seconds) * self.pace)
            return self._taken()
        finally:
            self._profiling.release()

    def _taken(self) -> SourceReply:
        return SourceReply(200, self.body, {"Content-Type": "application/octet-stream"})

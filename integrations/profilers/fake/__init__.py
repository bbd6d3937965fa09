"""Stand-ins for the profilers: each serves one API over HTTP on the loopback, and enforces its rules."""

from __future__ import annotations

from integrations.profilers.fake.elastic import FakeElastic
from integrations.profilers.fake.parca import FakeParca
from integrations.profilers.fake.pprof import FakePprof
from integrations.profilers.fake.pyroscope import FakePyroscope
from integrations.profilers.fake.serving import Fake, SourceReply, serving

__all__ = ["Fake", "FakeElastic", "FakeParca", "FakePprof", "FakePyroscope", "SourceReply", "serving"]

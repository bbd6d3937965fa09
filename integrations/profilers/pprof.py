"""Go's ``net/http/pprof`` and everything with the same API (pprof-rs, Node's pprof, fgprof)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from integrations.profilers import asking
from integrations.profilers.sources import Listed
from workflows.ports import Captured

PATHS = {"cpu": "profile", "wall": "fgprof"}  # other kinds have the same name there
PATIENCE_S = 15.0  # in addition to the profile's own seconds


def capture(source: Listed, kind: str, *, seconds: int, at: datetime, environ: Mapping[str, str]) -> Captured:
    """Take a profile; with ``seconds`` one of that span, which for a heap is the difference from start to end.

    The answer comes when the profile is done, so we wait that much longer.
    """
    path = source.kinds[kind] or PATHS.get(kind, kind)
    query = f"/{path}{f'?seconds={seconds}' if seconds else _now(kind)}"
    answer = asking.get(source, query, environ=environ, patience_s=seconds + PATIENCE_S)
    return Captured(
        body=answer.body,
        file_name=f"{source.name}-{kind}.pb.gz",
        query=f"GET {urlsplit(source.url).path}{query}",
        window=(at, at + timedelta(seconds=seconds)),
    )


def _now(kind: str) -> str:
    return "?gc=1" if kind == "heap" else ""  # what is in use, without garbage that is yet to be collected

"""The profiler port: the operator's list, and one small adapter per type of source."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from urllib.parse import quote

from integrations.profilers.sources import Listed
from workflows.planning.captures import ProfileSource
from workflows.ports import Captured, VendorError

# Imported only when a capture needs them: web processes plan captures but never take one.
ADAPTERS = {
    "pprof": "integrations.profilers.pprof",
    "pyroscope": "integrations.profilers.pyroscope",
    "pyroscope-render": "integrations.profilers.render",
    "parca": "integrations.profilers.parca",
    "elastic": "integrations.profilers.elastic",
}


class ListedProfiler:
    """The sources of one list; credentials are read from ``environ`` when they are needed."""

    def __init__(self, listed: Sequence[Listed], *, environ: Mapping[str, str]) -> None:
        self._listed = {one.name: one for one in listed}
        self._sources = tuple(_known(one) for one in listed)
        self._environ = environ

    def sources(self) -> Sequence[ProfileSource]:
        """Return the sources in the order of the list, without any requests."""
        return self._sources

    def capture(self, source: str, kind: str, *, seconds: int, at: datetime) -> Captured:
        """Take a profile of a source on the list. Raises ``VendorError``."""
        listed = self._listed.get(source)
        if listed is None or kind not in listed.kinds:
            says = f"The list of profile sources no longer has {kind} from {source}. Add it back, then retry."
            raise VendorError(says, code="not_listed", method="profiler.capture")
        take: Callable[..., Captured] = importlib.import_module(ADAPTERS[listed.type]).capture
        taken = take(listed, kind, seconds=seconds, at=at, environ=self._environ)
        taken.link = taken.link or _link(listed, kind, taken)
        return taken


def _known(listed: Listed) -> ProfileSource:
    return ProfileSource(
        name=listed.name,
        kinds=tuple(listed.kinds),
        services=listed.services,
        on=listed.on,
        seconds=listed.seconds,
        looks_back=listed.looks_back,
    )


def _link(listed: Listed, kind: str, taken: Captured) -> str:
    """Fill in the operator's template for the link to the same data in the vendor's UI."""
    begin, end = taken.window
    values = {
        "kind": kind,
        "query": listed.query,
        "from": begin.isoformat(),
        "to": end.isoformat(),
        "from_ms": str(round(begin.timestamp() * 1000)),
        "to_ms": str(round(end.timestamp() * 1000)),
    }
    link = listed.link
    for name, value in values.items():
        link = link.replace(f"{{{name}}}", quote(value, safe=""))
    return link

"""The tables of one thread in the Firefox Profiler's JSON, in either of its layouts.

Source: github.com/firefox-devtools/profiler, ``docs-developer/processed-profile-format.md`` and
``gecko-profile-format.md``. Processed profiles store columns, and newer ones share tables between threads; Firefox
itself writes rows with a schema.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from evidence.formats.base.json_text.columns import JsonColumn
from evidence.formats.base.json_text.fields import listed, mapped
from evidence.profile.errors import BadProfile

Table = Mapping[str, Sequence[Any]]
ADDRESS = re.compile(r"0x[0-9a-fA-F]+$")
# `js::RunScript (self-hosted:12)` in Firefox's own form stays as it is; so does everything else.
NOTHING: Mapping[str, Any] = {}


def columns(table: Any, where: str) -> Table:
    """Return a table by columns, whether it is stored that way or in rows with a schema."""
    table = mapped(table, where)
    if "schema" not in table:
        return {name: column for name, column in table.items() if isinstance(column, list | JsonColumn)}
    schema = mapped(table["schema"], f"{where}.schema")
    places = {name: place for name, place in schema.items() if isinstance(place, int) and 0 <= place < 100}
    rows = [listed(row, f"{where}.data[{at}]") for at, row in enumerate(listed(table.get("data"), f"{where}.data"))]
    return {name: [row[place] if place < len(row) else None for row in rows] for name, place in places.items()}


class GeckoThread:
    """One thread: its samples, and the names of its frames."""

    def __init__(self, thread: Mapping[str, Any], shared: Mapping[str, Any], where: str) -> None:
        self.where = where
        self.name = str(thread.get("name") or "thread")[:100]
        self.process = str(thread.get("processName") or thread.get("processType") or "")[:100]
        self.pid = str(thread.get("pid") or "")
        self._stacks = self._table("stackTable", thread, shared)
        self._frames = self._table("frameTable", thread, shared)
        self._functions = self._table("funcTable", thread, shared)
        self._resources = self._table("resourceTable", thread, shared)
        texts = [one[key] for one in (thread, shared) for key in ("stringArray", "stringTable") if key in one]
        self._texts = listed(texts[0] if texts else [], f"{where}.stringTable")

    def _table(self, name: str, thread: Mapping[str, Any], shared: Mapping[str, Any]) -> Table:
        found = thread.get(name, shared.get(name))
        return columns(found, f"{self.where}.{name}") if found is not None else {}

    def stack(self, at: int) -> tuple[int | None, int | None]:
        """Return the frame of a stack and its parent stack."""
        frame, prefix = self._of(self._stacks, "frame", at, "Stack"), self._of(self._stacks, "prefix", at, "Stack")
        return frame, prefix

    def frame(self, at: int) -> tuple[str, str]:
        """Return the name of a frame, and a hint."""
        if "location" in self._frames:
            return self._text(self._of(self._frames, "location", at, "Frame")), ""
        function = self._of(self._frames, "func", at, "Frame")
        name = self._text(self._of(self._functions, "name", function, "Function"))
        inlined = self._of(self._frames, "inlineDepth", at, "Frame") or 0
        if ADDRESS.match(name):
            name = self._library(function) or name
        return name, "inlined" if inlined else ""

    def _library(self, function: int | None) -> str:
        """Return the library that unnamed code belongs to."""
        resource = self._of(self._functions, "resource", function, "Function")
        if resource is None or resource < 0:
            return ""
        name = self._text(self._of(self._resources, "name", resource, "Resource"))
        return f"[{name}]" if name else ""

    def _of(self, table: Table, column: str, at: int | None, what: str) -> int | None:
        values = table.get(column)
        if values is None or at is None:
            return None
        if not 0 <= at < len(values):
            raise BadProfile(f"{what} {at} does not exist: there are {len(values)}", where=self.where)
        value = values[at]
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def _text(self, at: int | None) -> str:
        if at is None:
            return ""
        if not 0 <= at < len(self._texts):
            raise BadProfile(f"String {at} does not exist: there are {len(self._texts)}", where=self.where)
        return str(self._texts[at])

"""What the names of a stored tree stand for: parsed to compare two trees, but never to draw one. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cached_property

from evidence.profile.source_functions import SourceFunction


def written(places: Mapping[str, SourceFunction]) -> str:
    """Return places as one text, which is skipped quickly if a tree is only drawn."""
    return json.dumps(dict(places), separators=(",", ":"), ensure_ascii=False)


class StoredPlaces(Mapping[str, SourceFunction]):
    """Stored places, parsed on demand."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _read(self) -> dict[str, SourceFunction]:
        return {name: SourceFunction(*one) for name, one in json.loads(self._text).items()}

    def __getitem__(self, name: str) -> SourceFunction:
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read)

    def __len__(self) -> int:
        return len(self._read)

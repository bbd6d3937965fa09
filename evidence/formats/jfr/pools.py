"""The constants of one class in a JFR chunk, by their keys: of large pools in columns, of small ones as they are."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from evidence.profile.stacks import Ints


class TraceColumns(NamedTuple):
    """Many stacks: their keys, whether each was cut off, how many frames it has; of all frames method and type.

    Frames are innermost first.
    """

    keys: Ints
    truncated: Ints
    sizes: Ints
    methods: Ints
    types: Ints


class Pool:
    """Constants by key; where a key is given twice, the first one stays."""

    def __init__(self) -> None:
        self._parts: list[dict[int, Any] | Ints] = []
        self._merged: dict[int, Any] | None = None

    def add(self, key: int, value: Any) -> None:
        """Add a constant: a tuple of its fields, or a plain value."""
        last = self._parts[-1] if self._parts else None
        if not isinstance(last, dict):
            last = {}
            self._parts.append(last)
        last.setdefault(key, value)

    def add_rows(self, rows: Ints) -> None:
        """Add many constants whose fields are all numbers, each a row: its key and then its fields."""
        self._parts.append(rows)

    def get(self, key: int) -> Any:
        """Return a constant, or None."""
        if self._merged is None:
            self._merged = self._merge()
        found = self._merged.get(key)
        return tuple(found[1:].tolist()) if isinstance(found, np.ndarray) else found

    def items(self) -> Iterator[tuple[int, Any]]:
        """Yield every key with its constant."""
        keys = dict.fromkeys(chain.from_iterable(map(_keys, self._parts)))
        return ((key, self.get(key)) for key in keys)

    def _merge(self) -> dict[int, Any]:
        merged: dict[int, Any] = {}
        for part in reversed(self._parts):
            merged.update(part if isinstance(part, dict) else zip(_keys(part)[::-1], part[::-1], strict=True))
        return merged


def _keys(part: dict[int, Any] | Ints) -> list[int]:
    return list(part) if isinstance(part, dict) else part[:, 0].tolist()


class TracePool(Pool):
    """Stacks, nearly all in columns."""

    def __init__(self) -> None:
        super().__init__()
        self._columns: list[TraceColumns] = []
        self._after: dict[int, int] = {}  # key of a stack that is not in columns -> after how many of them it came

    def add(self, key: int, value: Any) -> None:
        """Add a stack as it is."""
        super().add(key, value)
        self._after.setdefault(key, len(self._columns))

    def add_columns(self, columns: TraceColumns) -> None:
        """Add many stacks."""
        self._columns.append(columns)

    def columns(self, keys: list[int]) -> tuple[list[int], TraceColumns]:
        """Return all stacks that are in columns, and for each key its place among them, -1 where it is elsewhere."""
        none = np.zeros(0, dtype=np.int64)
        parts = zip(TraceColumns(*[none] * len(TraceColumns._fields)), *self._columns, strict=True)
        every = TraceColumns(*(np.concatenate(part) for part in parts))
        first = dict(zip(every.keys[::-1].tolist(), range(len(every.keys) - 1, -1, -1), strict=True))
        begins = np.cumsum([0, *(len(columns.keys) for columns in self._columns)]).tolist()
        places = []
        for key in keys:
            place, after = first.get(key, -1), self._after.get(key)
            places.append(-1 if after is not None and place >= begins[after] else place)
        return places, every

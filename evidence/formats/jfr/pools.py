"""The constants of one class in a JFR chunk, by key: large pools in columns, small ones as they are."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from evidence.formats.jfr import varints
from evidence.profile.stacks import Codes, Ints

# Frame types are a few small numbers: a method and a type nearly always fit in one number with this many bits for it.
BITS = 8


class TraceColumns(NamedTuple):
    """Many stacks: each one's key, whether it was truncated, and its number of frames; and all their frames.

    Frames are innermost first, numbers of pairs of method and type.
    """

    keys: Ints
    truncated: Ints
    sizes: Ints
    frames: Codes
    methods: Ints
    types: Ints


def pairs(methods: Ints, types: Ints) -> tuple[Codes, Ints, Ints]:
    """Return the number of each pair of method and type, and the methods and types of the distinct pairs."""
    if 0 <= int(types.min(initial=0)) <= int(types.max(initial=0)) < 1 << BITS:
        most = 1 << (63 - BITS)
        if -most <= int(methods.min(initial=0)) <= int(methods.max(initial=0)) < most:
            both, numbers = varints.numbered(methods << BITS | types)
            return numbers.astype(np.int32), both >> BITS, both & ((1 << BITS) - 1)
    (type, of_type), (method, of_method) = varints.numbered(types), varints.numbered(methods)
    both, numbers = varints.numbered(of_method * len(type) + of_type)
    return numbers.astype(np.int32), method[both // max(len(type), 1)], type[both % max(len(type), 1)]


class Pool:
    """Constants by key; if a key occurs twice, the first one stays."""

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
        """Add many constants whose fields are all numbers, one per row: the key, then the fields."""
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
        self._after: dict[int, int] = {}  # key of a stack outside the columns -> how many in columns precede it

    def add(self, key: int, value: Any) -> None:
        """Add a single stack."""
        super().add(key, value)
        self._after.setdefault(key, len(self._columns))

    def add_columns(self, columns: TraceColumns) -> None:
        """Add many stacks."""
        self._columns.append(columns)

    def columns(self, keys: Ints) -> tuple[Ints, TraceColumns]:
        """Return all stacks in columns, and for each key its index among them, -1 if it is elsewhere."""
        every = self._joined()
        if not len(every.keys):
            return np.full(len(keys), -1, dtype=np.int64), every
        order = np.argsort(every.keys, kind="stable")  # stable, so that among equal keys the first one is found
        found = order[np.minimum(np.searchsorted(every.keys[order], keys), len(order) - 1)]
        places = np.where(every.keys[found] == keys, found, -1)
        if self._after:
            begins = np.cumsum([0, *(len(columns.keys) for columns in self._columns)]).tolist()  # and their end
            for at, (key, place) in enumerate(zip(keys.tolist(), places.tolist(), strict=True)):
                if place >= begins[self._after.get(key, -1)]:
                    places[at] = -1
        return places, every

    def _joined(self) -> TraceColumns:
        """Join the parts, each of which numbers its pairs of method and type separately."""
        none = np.zeros(0, dtype=np.int64)
        parts = ((one.keys, one.truncated, one.sizes, one.methods, one.types) for one in self._columns)
        joined = zip([none] * 5, *parts, strict=True)
        keys, truncated, sizes, methods, types = (np.concatenate(part) for part in joined)
        numbers, methods, types = pairs(methods, types)
        frames = np.empty(int(sizes.sum()), dtype=np.int32)
        at = pair = 0
        for part in self._columns:
            frames[at : at + len(part.frames)] = numbers[pair : pair + len(part.methods)][part.frames]
            at, pair = at + len(part.frames), pair + len(part.methods)
        return TraceColumns(keys, truncated, sizes, frames, methods, types)

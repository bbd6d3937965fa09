"""Read the constant pools of a JFR chunk.

Entries follow each other without a size, so every pool has to be walked. If all fields are numbers, an entry is a fixed
number of numbers; a stack is a few of them and then a fixed number for each of its frames. Large pools of these are
read a stretch at a time; an unusual entry is read with the cursor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from evidence.formats.jfr import varints
from evidence.formats.jfr.classes import STRING, Class, Classes, JfrField
from evidence.formats.jfr.cursor import LATIN1, UTF8, Cursor
from evidence.formats.jfr.pools import Pool, TraceColumns, TracePool, pairs
from evidence.profile.stacks import Ints

TRACE: Final = "jdk.types.StackTrace"
# Pools with fewer entries are read with the cursor.
FEW = 32
# After an unusual entry, this many are read with the cursor, doubling each time.
MOST_PLAIN = 4096
# Reads up to a number of entries from the cursor on and moves it; returns how many it read.
Many = Callable[[Cursor, int], int]


class Layout(NamedTuple):
    """A fixed count of consecutive numbers, and the indices of those written as a byte."""

    width: int
    bytes: Sequence[int]


class Constants:
    """The pools of one chunk, by the names of their classes."""

    def __init__(self, classes: Classes, data: varints.Bytes, *, packed: bool) -> None:
        self._classes, self._data, self._packed = classes, data, packed
        self._pools: dict[str, Pool] = {}

    def of(self, name: str) -> Pool:
        """Return the pool of a class."""
        return self._pools.get(name) or Pool()

    def get(self, name: str, key: int) -> Any:
        """Return one constant, or None."""
        return self.of(name).get(key)

    def traces(self) -> TracePool:
        """Return the pool of stacks."""
        found = self.of(TRACE)
        return found if isinstance(found, TracePool) else TracePool()

    def forget(self) -> None:
        """Release the chunk's content."""
        self._data = self._data[:0].copy()

    def read(self, cursor: Cursor) -> None:
        """Read the pool that begins here."""
        kind = cursor.int64()
        reader, found = self._classes.reader(kind), self._classes.found[kind]
        pool = self._pools.setdefault(found.name, TracePool() if found.name == TRACE else Pool())
        left = cursor.count()
        many = self._many(found, pool) if self._packed and left >= FEW else None
        plain = 1 if many else left
        while left:
            read = many(cursor, left) if many else 0
            left -= read
            if not read:
                for _ in range(min(left, plain)):
                    pool.add(cursor.int64(), reader(cursor))
                left -= min(left, plain)
                plain = min(2 * plain, MOST_PLAIN)

    def _many(self, found: Class, pool: Pool) -> Many | None:
        """Return a reader for many entries of a class at once, None if that is impossible."""
        if isinstance(pool, TracePool):
            return _Traces.of(found, self._classes, self._data, pool)
        fields = found.fields
        if found.name == STRING or (len(fields) == 1 and self._is_string(fields[0])):
            return _Strings(pool, alone=found.name == STRING)
        layout = _layout(fields, self._classes, before=1)
        return _Rows(self._data, pool, layout) if layout else None

    def _is_string(self, one: JfrField) -> bool:
        return not one.array and not one.constant and self._classes.name(one.of) == STRING


def _layout(fields: Sequence[JfrField], classes: Classes, *, before: int = 0) -> Layout | None:
    """Return the layout of fields that are all numbers, with ``before`` numbers ahead of them; None if some are not."""
    widths = [classes.width(one) for one in fields]
    if not fields or not set(widths) <= {0, 1}:
        return None
    return Layout(before + len(fields), [before + at for at, width in enumerate(widths) if width])


class _Rows:
    """Reads entries whose fields are all numbers."""

    def __init__(self, data: varints.Bytes, pool: Pool, layout: Layout) -> None:
        self._data, self._pool, self._layout = data, pool, layout

    def __call__(self, cursor: Cursor, most: int) -> int:
        width, bytes = self._layout
        found = varints.stretch(self._data, cursor.at)
        count = min(len(found.values) // width, most)
        lengths = found.lengths[: count * width].reshape(count, width)
        wide = np.flatnonzero((lengths[:, bytes] != 1).any(axis=1))
        count = int(wide[0]) if len(wide) else count
        if count:
            self._pool.add_rows(found.values[: count * width].reshape(count, width).copy())
            cursor.at = int(found.ends[count * width - 1]) + 1
        return count


class _Strings:
    """Reads entries of one string each; ``alone`` says that the constant is the string, not a class with one field."""

    def __init__(self, pool: Pool, *, alone: bool) -> None:
        self._pool, self._alone = pool, alone

    def __call__(self, cursor: Cursor, most: int) -> int:
        data, add = cursor.data, self._pool.add
        last = len(data) - 32  # near the end, more care is needed
        for read in range(most):
            begin = at = cursor.at
            if at > last:
                return read
            key, at = _short(data, at)
            coding = data[at]
            size, at = _short(data, at + 1)
            if key < 0 or size < 0 or coding not in (UTF8, LATIN1) or at + size > last:
                cursor.at = begin
                return read
            text = data[at : at + size].decode("utf-8" if coding == UTF8 else "latin-1", "replace")
            add(key, text if self._alone else (text,))
            cursor.at = at + size
        return most


def _short(data: bytes, at: int) -> tuple[int, int]:
    """Read a number of at most four bytes; return it, negative for a longer one, and the offset after it."""
    value = data[at]
    if value < 128:
        return value, at + 1
    value &= 127
    for shift in (7, 14, 21):
        at += 1
        part = data[at]
        value |= (part & 127) << shift
        if part < 128:
            return value, at + 1
    return -1, at + 1


class _Traces:
    """Reads stacks: numbers, the number of frames, and the numbers of each."""

    def __init__(
        self, data: varints.Bytes, pool: TracePool, head: Layout, frame: Layout, kept: tuple[int, int, int]
    ) -> None:
        self._data, self._pool, self._head, self._frame = data, pool, head, frame
        self._truncated, self._method, self._type = kept

    @classmethod
    def of(cls, found: Class, classes: Classes, data: varints.Bytes, pool: TracePool) -> _Traces | None:
        """Return one for a class as both the JDK and async-profiler write it."""
        frames = found.fields[-1] if found.fields else None
        inner = classes.found.get(frames.of) if frames else None
        if not frames or not inner or not frames.array or frames.constant or frames.name != "frames":
            return None
        head, frame = _layout(found.fields[:-1], classes, before=1), _layout(inner.fields, classes)
        kept = (found.place("truncated") + 1, inner.place("method"), inner.place("type"))
        return cls(data, pool, head, frame, kept) if head and frame and kept[0] and min(kept) >= 0 else None

    def __call__(self, cursor: Cursor, most: int) -> int:
        found = varints.stretch(self._data, cursor.at)
        starts, sizes = self._walked(found.values, most)
        places = starts + self._head.width + 1
        wide = found.lengths[starts[:, None] + self._head.bytes].max(axis=1, initial=1) != 1
        rows = np.repeat(places - self._frame.width * (np.cumsum(sizes) - sizes), sizes)
        rows += self._frame.width * np.arange(len(rows))
        owner = np.repeat(np.arange(len(starts)), sizes)
        for place in self._frame.bytes:
            wide[owner[found.lengths[rows + place] != 1]] = True
        count = int(np.argmax(wide)) if wide.any() else len(starts)
        if not count:
            return 0
        rows = rows[: int(sizes[:count].sum())]
        values = found.values
        frames = pairs(values[rows + self._method], values[rows + self._type])
        head = starts[:count]
        self._pool.add_columns(TraceColumns(values[head], values[head + self._truncated], sizes[:count], *frames))
        cursor.at = int(found.ends[places[count - 1] + self._frame.width * sizes[count - 1] - 1]) + 1
        return count

    def _walked(self, values: Ints, most: int) -> tuple[Ints, Ints]:
        """Return where the stacks that are complete within a stretch begin, and how many frames each has."""
        starts: list[int] = []
        add = starts.append
        number, end, head, width = memoryview(values.data), len(values), self._head.width, self._frame.width
        at, last = 0, len(values) - head
        for _ in range(most):
            if at >= last:
                break
            after = at + head + 1 + width * number[at + head]
            if after > end:
                break
            add(at)
            at = after
        begins = np.array(starts, dtype=np.int64)
        return begins, values[begins + head]

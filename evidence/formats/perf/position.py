"""The reader's position in a ``perf script`` text, and the lines it skipped."""

from __future__ import annotations

import mmap

from evidence.formats.base import held
from evidence.formats.base.skipped import Skipped
from evidence.profile.errors import BadProfile

Buffer = bytes | mmap.mmap

COUNTED_AT_ONCE = 4 << 20
MOST_SKIPPED = 10_000  # lines, for each stack that was found


class Position:
    """The piece being read, and ``at``, the position in it; lines are counted on demand."""

    def __init__(self, data: Buffer) -> None:
        self.at = 0
        self.skipped = Skipped()
        self._data = data
        self._chunk: bytes | memoryview = b""
        self._start = self._counted = self._before = 0

    def open(self, chunk: bytes | memoryview, *, start: int) -> None:
        """Start the piece of the file at ``start``."""
        self._chunk, self._start, self.at = chunk, start, 0

    @property
    def line(self) -> int:
        """Return the number of the line being read, from 1."""
        while self._counted < self._start:
            piece = self._data[self._counted : min(self._counted + COUNTED_AT_ONCE, self._start)]
            self._before += piece.count(b"\n")
            self._counted += len(piece)
            held.leave(self._data, 0, self._counted)
        return self._before + bytes(self._chunk[: self.at]).count(b"\n") + 1

    def skip(self, number: int, line: bytes, *, found: int) -> None:
        """Skip a line of the block being read, its ``number``-th from 0; ``found`` stacks offset skipped lines.

        Raises ``BadProfile`` if next to nothing of a long file can be read.
        """
        self.skipped.add(self.line + number if self.skipped.wants_place else 0, line)
        if self.skipped.count > MOST_SKIPPED * (1 + found):
            raise BadProfile("Almost none of its lines are perf script output", where=self.skipped.where)

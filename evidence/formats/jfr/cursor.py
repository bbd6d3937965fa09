"""Read the numbers and strings of a JFR chunk, byte by byte, never past its end."""

from __future__ import annotations

import struct

from evidence.profile.errors import BadProfile

# The encodings of a string.
NULL, EMPTY, CONSTANT, UTF8, CHARS, LATIN1 = range(6)


class Cursor:
    """A position in a chunk. ``base`` is where the chunk begins in the file, so that errors name the file's byte."""

    __slots__ = ("at", "base", "compressed", "data")

    def __init__(self, data: bytes, *, base: int = 0, compressed: bool = True) -> None:
        self.data = data
        self.at = 0
        self.base = base
        self.compressed = compressed

    @property
    def where(self) -> str:
        """The position in the file, in words."""
        return f"byte {self.base + self.at}"

    def go(self, at: int) -> Cursor:
        """Move to an offset in the chunk. Raises ``BadProfile`` if it is outside."""
        if not 0 <= at < len(self.data):
            raise BadProfile(f"It points to byte {self.base + at}, outside of its chunk", where=self.where)
        self.at = at
        return self

    def byte(self) -> int:
        """Read one byte."""
        at = self.at
        if at >= len(self.data):
            raise self.ended()
        self.at = at + 1
        return self.data[at]

    def int16(self) -> int:
        """Read a 16-bit number."""
        return self.varint() if self.compressed else int.from_bytes(self.take(2), "big", signed=True)

    def int32(self) -> int:
        """Read a 32-bit number."""
        if not self.compressed:
            return int.from_bytes(self.take(4), "big", signed=True)
        value = self.varint() & 0xFFFFFFFF
        return value - (1 << 32) if value >> 31 else value

    def int64(self) -> int:
        """Read a 64-bit number."""
        if not self.compressed:
            return int.from_bytes(self.take(8), "big", signed=True)
        value = self.varint()
        return value - (1 << 64) if value >> 63 else value

    def varint(self) -> int:
        """Read a number with seven bits per byte; the ninth byte holds eight."""
        data, at = self.data, self.at
        try:
            value = data[at]
            if value > 127:
                value &= 127
                for shift in (7, 14, 21, 28, 35, 42, 49):
                    at += 1
                    part = data[at]
                    value |= (part & 127) << shift
                    if part < 128:
                        break
                else:
                    at += 1
                    value |= data[at] << 56
        except IndexError:
            raise self.ended() from None
        self.at = at + 1
        return value

    def float32(self) -> float:
        """Read a 32-bit float."""
        return float(struct.unpack(">f", self.take(4))[0])

    def float64(self) -> float:
        """Read a 64-bit float."""
        return float(struct.unpack(">d", self.take(8))[0])

    def take(self, size: int) -> bytes:
        """Read some bytes."""
        found = self.data[self.at : self.at + size]
        if size < 0 or len(found) < size:
            raise self.ended()
        self.at += size
        return found

    def count(self) -> int:
        """Read how many items follow; each takes at least a byte. Raises ``BadProfile`` for malformed content."""
        value = self.int32()
        if not 0 <= value <= len(self.data) - self.at:
            raise BadProfile(f"It says {value:,} items follow, more than there's room for", where=self.where)
        return value

    def string(self) -> str | int | None:
        """Read a string, or the key of a string constant. Raises ``BadProfile`` for malformed content."""
        kind = self.byte()
        if kind == NULL:
            return None
        if kind == EMPTY:
            return ""
        if kind == CONSTANT:
            return self.int64()
        if kind == UTF8:
            return self.take(self.count()).decode("utf-8", "replace")
        if kind == LATIN1:
            return self.take(self.count()).decode("latin-1")
        if kind == CHARS:
            return "".join(chr(self.varint() & 0xFFFF) for _ in range(self.count()))
        raise BadProfile(f"Unknown string kind {kind}", where=self.where)

    def ended(self) -> BadProfile:
        """Return the error for a chunk that ends within something."""
        return BadProfile("The chunk ends in the middle of a value", where=self.where)

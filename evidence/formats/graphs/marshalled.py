"""The few kinds of values that Python's ``marshal`` writes for a cProfile, read within bounds.

Python's own reader may crash its process on hostile content. Source: CPython, ``Python/marshal.c``.
"""

from __future__ import annotations

import struct
from typing import Any

from evidence.profile.errors import BadProfile

FLAG = 0x80
NESTED = 12
NULL = object()
_SIMPLE: dict[bytes, Any] = {b"N": None, b"T": True, b"F": False, b"0": NULL}
# For texts: type -> how many bytes the length takes.
_TEXTS = {b"z": 1, b"Z": 1, b"a": 4, b"A": 4, b"u": 4, b"t": 4, b"s": 4}


class MarshalReader:
    """Reads one value after the other."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._known: list[Any] = []

    def read(self, above: int = 0) -> Any:
        """Read a value. Raises ``BadProfile`` naming the byte."""
        if above > NESTED:
            raise BadProfile("Its values are nested too deeply", where=self._where)
        code = self._take(1)
        kind, kept = bytes([code[0] & ~FLAG]), bool(code[0] & FLAG)
        if kind in _SIMPLE:
            return _SIMPLE[kind]
        if kind == b"r":
            return self._reference()
        place = len(self._known)
        if kept:
            self._known.append(None)
        value = self._value(kind, above)
        if kept:
            self._known[place] = value
        return value

    def _value(self, kind: bytes, above: int) -> Any:
        if kind in _TEXTS:
            return self._take(self._size(_TEXTS[kind])).decode("utf-8", "replace")
        if kind in (b"(", b")"):
            return tuple(self.read(above + 1) for _ in range(self._size(4 if kind == b"(" else 1)))
        if kind == b"{":
            return self._mapping(above)
        return self._number(kind)

    def _number(self, kind: bytes) -> int | float:
        if kind == b"i":
            return int.from_bytes(self._take(4), "little", signed=True)
        if kind == b"g":
            return float(struct.unpack("<d", self._take(8))[0])
        if kind == b"l":
            size = int.from_bytes(self._take(4), "little", signed=True)
            if abs(size) > 20:
                raise BadProfile("A number is too large", where=self._where)
            digits = [int.from_bytes(self._take(2), "little") for _ in range(abs(size))]
            return sum(digit << 15 * at for at, digit in enumerate(digits)) * (1 if size > 0 else -1)
        raise BadProfile(f"A value of the kind {kind!r}, which no cProfile holds", where=self._where)

    def _mapping(self, above: int) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        while (key := self.read(above + 1)) is not NULL:
            try:
                found[key] = self.read(above + 1)
            except TypeError as error:
                raise BadProfile("A key is no function", where=self._where) from error
        return found

    def _reference(self) -> Any:
        index = int.from_bytes(self._take(4), "little", signed=True)
        if not 0 <= index < len(self._known):
            raise BadProfile(f"Value {index} does not exist", where=self._where)
        return self._known[index]

    def _size(self, width: int) -> int:
        size = int.from_bytes(self._take(width), "little", signed=width == 4)
        if not 0 <= size <= len(self._data) - self._at:
            raise BadProfile(f"It says that {size:,} bytes follow, which there are not", where=self._where)
        return size

    def _take(self, size: int) -> bytes:
        piece = self._data[self._at : self._at + size]
        if len(piece) < size:
            raise BadProfile("It ends within a value", where=self._where)
        self._at += size
        return piece

    @property
    def _where(self) -> str:
        return f"byte {self._at}"

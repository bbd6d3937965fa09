"""Profiles for tests, written field by field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


def varint(number: int) -> bytes:
    """Encode one number; a negative one takes ten bytes."""
    number &= (1 << 64) - 1
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def number(tag: int, value: int) -> bytes:
    """Encode a field that is a number."""
    return varint(tag << 3) + varint(value)


def message(tag: int, content: bytes) -> bytes:
    """Encode a field that is a message, a string or packed numbers."""
    return varint(tag << 3 | 2) + varint(len(content)) + content


def packed(tag: int, values: Sequence[int]) -> bytes:
    """Encode numbers the short way."""
    return message(tag, b"".join(map(varint, values)))


def unpacked(tag: int, values: Sequence[int]) -> bytes:
    """Encode numbers one field each, as encoders do with one or two."""
    return b"".join(number(tag, value) for value in values)


@dataclass
class Made:
    """A profile under construction. Locations and functions count from 1."""

    types: Sequence[tuple[str, str]] = (("samples", "count"), ("cpu", "nanoseconds"))
    strings: list[str] = field(default_factory=lambda: [""])
    body: bytes = b""
    functions: int = 0
    locations: int = 0

    def text(self, value: str) -> int:
        """Return the index of a string."""
        if value not in self.strings:
            self.strings.append(value)
        return self.strings.index(value)

    def function(self, name: str) -> int:
        """Add a function; return its id."""
        self.functions += 1
        self.body += message(5, number(1, self.functions) + number(2, self.text(name)))
        return self.functions

    def location(self, *names: str, mapping: int = 0, address: int = 0) -> int:
        """Add a location whose innermost function comes first; return its id."""
        lines = b"".join(message(4, number(1, self.function(name)) + number(2, 7)) for name in names)
        self.locations += 1
        self.body += message(4, number(1, self.locations) + number(2, mapping) + number(3, address) + lines)
        return self.locations

    def mapping(self, file: str, *, start: int = 0, offset: int = 0) -> int:
        """Add the only mapping; return its id."""
        fields = number(1, 1) + number(2, start) + number(4, offset) + number(5, self.text(file))
        self.body += message(3, fields)
        return 1

    def sample(
        self, locations: Sequence[int], values: Sequence[int], *, labels: bytes = b"", packs: bool = True
    ) -> None:
        """Add a sample, leaf first."""
        encode = packed if packs else unpacked
        self.body += message(2, encode(1, locations) + encode(2, values) + labels)

    def label(self, key: str, text: str = "", *, value: int = 0, unit: str = "") -> bytes:
        """Encode a label for a sample."""
        fields = number(1, self.text(key)) + number(2, self.text(text)) + number(3, value) + number(4, self.text(unit))
        return message(3, fields)

    def bytes(self, extra: bytes = b"") -> bytes:
        """Return the whole profile."""
        types = b"".join(
            message(1, number(1, self.text(name)) + number(2, self.text(unit))) for name, unit in self.types
        )
        return types + self.body + extra + b"".join(message(6, text.encode()) for text in self.strings)

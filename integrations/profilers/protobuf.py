"""The part of protobuf's wire format needed to send a request and cut one answer out of another."""

from __future__ import annotations

from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


class MalformedMessage(ValueError):
    """The bytes are not a protobuf message."""


def number(field: int, value: int) -> bytes:
    """Encode a non-negative integer."""
    return _varint(field << 3 | VARINT) + _varint(value)


def text(field: int, value: str) -> bytes:
    """Encode a string."""
    body = value.encode()
    return _varint(field << 3 | BYTES) + _varint(len(body)) + body


def part(message: memoryview, field: int) -> memoryview | None:
    """Return the last occurrence of a field in a message, without copying it; None when it is absent.

    Raises ``MalformedMessage``.
    """
    return next((body for number, body in reversed(list(_parts(message))) if number == field), None)


def _parts(message: memoryview) -> Iterator[tuple[int, memoryview]]:
    at = 0
    while at < len(message):
        tag, at = _read(message, at)
        size = {FIXED64: 8, FIXED32: 4}.get(tag & 7)
        if tag & 7 == VARINT:
            _, at = _read(message, at)
            continue
        if size is None:
            size, at = _read(message, at)
        if tag & 7 not in {FIXED64, BYTES, FIXED32} or at + size > len(message):
            raise MalformedMessage
        if tag & 7 == BYTES:
            yield tag >> 3, message[at : at + size]
        at += size


def _read(message: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(message):
            raise MalformedMessage
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise MalformedMessage


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])

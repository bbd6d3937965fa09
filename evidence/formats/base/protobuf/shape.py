"""Recognise a protobuf message by the fields it may have, nested ones included, however early it is cut off. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evidence.formats.base.protobuf.wire import FIXED32, FIXED64, LENGTH, VARINT, varint
from evidence.profile.errors import BadProfile

SIZES = {FIXED64: 8, FIXED32: 4}


@dataclass(frozen=True, slots=True)
class MessageShape:
    """A message: its fields by number, each with its wire type or nested message; ``once`` may not be repeated."""

    fields: Mapping[int, int | MessageShape]
    once: frozenset[int] = field(default_factory=frozenset)


def fields_met(head: bytes, shape: MessageShape) -> int:
    """Count the fields that match the shape; 0 if one is not allowed there."""
    met = _met(head, 0, len(head), shape, cut=True)
    return max(met, 0)


def _met(head: bytes, at: int, end: int, shape: MessageShape, *, cut: bool) -> int:
    """Return how many fields fit between two offsets, -1 if one does not; ``cut`` allows the last to run past."""
    met, seen = 0, set[int]()
    while at < end:
        try:
            tag, start = varint(head, at, end)
            number, kind = tag >> 3, tag & 7
            stop = _stop(head, start, end, kind)
        except BadProfile:
            return met if cut and end - at < 20 else -1
        known = shape.fields.get(number)
        if (
            known is None
            or kind != (LENGTH if isinstance(known, MessageShape) else known)
            or number in shape.once & seen
        ):
            return -1
        if stop > end and not cut:
            return -1
        inside = 0
        if isinstance(known, MessageShape):
            begin = varint(head, start, end)[1]
            inside = _met(head, begin, min(stop, end), known, cut=cut and stop > end)
        if inside < 0:
            return -1
        seen.add(number)
        met, at = met + 1 + inside, stop
    return met


def _stop(head: bytes, start: int, end: int, kind: int) -> int:
    """Return where a field ends. Raises ``BadProfile`` if that cannot be determined."""
    if kind == LENGTH:
        size, begin = varint(head, start, end)
        return begin + size
    if kind == VARINT:
        return varint(head, start, end)[1]
    if kind in SIZES:
        return start + SIZES[kind]
    raise BadProfile(f"Unknown protobuf wire type {kind}")

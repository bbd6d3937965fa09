"""Protobuf's wire format in columns: the same field of many messages at once. Pure: numpy alone.

A column costs a handful of array operations however many messages there are; a loop over them would cost microseconds
each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evidence.formats.base.protobuf.wire import FIXED32, FIXED64, LENGTH, VARINT
from evidence.profile.errors import BadProfile, TooMuch
from evidence.profile.stacks import Ints

Bytes = NDArray[np.uint8]

MOST_FIELDS = 50_000
SPAN = 1 << 20


@dataclass(frozen=True, slots=True)
class Fields:
    """Fields of many messages, ordered by message: their message, their number, and where their bytes are."""

    message: Ints
    number: Ints
    begin: Ints
    end: Ints

    def of(self, number: int) -> Fields:
        """Return the fields with one number."""
        chosen = self.number == number
        return Fields(self.message[chosen], self.number[chosen], self.begin[chosen], self.end[chosen])


def fields(data: Bytes, begin: Ints, end: Ints) -> Fields:
    """Find the fields of many messages at once: first the first field of each, then the second ones, and so on.

    Raises ``BadProfile`` for malformed messages and ``TooMuch`` for too many fields.
    """
    found: list[tuple[Ints, Ints, Ints, Ints]] = []
    active = np.flatnonzero(begin < end)
    at, stop = begin[active], end[active]
    while len(active):
        tag, start = _varints(data, at, stop)
        number, kind = tag >> 3, tag & 7
        begins, after = _extents(data, start, stop, kind)
        _check(at, after, stop, kind)
        found.append((active, number, begins, after))
        more = after < stop
        active, at, stop = active[more], after[more], stop[more]
        if len(found) > MOST_FIELDS:
            raise TooMuch(f"A message has more than {MOST_FIELDS} fields", where=f"byte {int(begin[active[0]])}")
    if not found:
        nothing = np.zeros(0, dtype=np.int64)
        return Fields(nothing, nothing, nothing, nothing)
    columns = [np.concatenate(column) for column in zip(*found, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    return Fields(*(column[order] for column in columns))


def _extents(data: Bytes, start: Ints, stop: Ints, kind: Ints) -> tuple[Ints, Ints]:
    """Return where the contents of fields begin and end, by their wire types."""
    begins, after = start.copy(), start.copy()
    for wire, size in ((FIXED64, 8), (FIXED32, 4)):
        after[kind == wire] += size
    for wire in (VARINT, LENGTH):
        which = np.flatnonzero(kind == wire)
        if len(which):
            value, place = _varints(data, start[which], stop[which])
            if wire == LENGTH:
                begins[which] = place
                # A size that no buffer has would overflow below.
                place = place + np.where((value < 0) | (value > len(data)), len(data), value)
            after[which] = place
    return begins, after


def _check(at: Ints, after: Ints, stop: Ints, kind: Ints) -> None:
    """Raise ``BadProfile`` for the first field that runs past its message or has an unknown type."""
    known = (kind == VARINT) | (kind == LENGTH) | (kind == FIXED64) | (kind == FIXED32)
    wrong = np.flatnonzero((after > stop) | ~known)
    if len(wrong):
        first = wrong[0]
        says = "A field runs past the end of its message" if known[first] else "A field has no known wire type"
        raise BadProfile(says, where=f"byte {int(at[first])}")


def _varints(data: Bytes, at: Ints, stop: Ints) -> tuple[Ints, Ints]:
    """Read one varint at each offset; return the values and the offsets after them."""
    byte = data[np.minimum(at, len(data) - 1)]
    value = (byte & 0x7F).astype(np.int64)
    after = at + 1
    more = np.flatnonzero(byte >= 0x80)
    for shift in range(7, 70, 7):
        if not len(more):
            break
        byte = data[np.minimum(after[more], len(data) - 1)]
        value[more] |= (byte & 0x7F).astype(np.int64) << shift
        after[more] += 1
        more = more[byte >= 0x80]
    wrong = np.flatnonzero(after > stop)
    if len(more) or len(wrong):
        first = int(at[more[0] if len(more) else wrong[0]])
        raise BadProfile("A number is longer than 64 bits or its message", where=f"byte {first}")
    return value, after


def ints(data: Bytes, found: Fields, messages: int) -> tuple[Ints, Ints]:
    """Read the numbers of fields, packed or not; return them all, and how many each of ``messages`` has.

    Raises ``BadProfile`` for a malformed field.
    """
    counts = np.zeros(messages, dtype=np.int64)
    pieces = []
    for low, high in _spans(found):
        values, each = _decoded(data, found.begin[low:high], found.end[low:high])
        pieces.append(values)
        counts += np.bincount(found.message[low:high], weights=each, minlength=messages).astype(np.int64)
    return (np.concatenate(pieces) if pieces else np.zeros(0, dtype=np.int64)), counts


def scalars(data: Bytes, found: Fields, messages: int) -> Ints:
    """Read one number per message, 0 if a message has none; the last one counts, as protobuf specifies.

    Raises ``BadProfile`` for a malformed field.
    """
    values = np.zeros(messages, dtype=np.int64)
    if len(found.message):
        values[found.message] = _varints(data, found.begin, found.end)[0]
    return values


def _spans(found: Fields) -> Iterator[tuple[int, int]]:
    """Split fields into runs that are close together in the file, so that reading one takes bounded memory."""
    if len(found.begin):
        far = np.flatnonzero(np.diff(found.begin // SPAN) != 0) + 1
        yield from pairwise([0, *far.tolist(), len(found.begin)])


def _decoded(data: Bytes, begin: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Read all varints between pairs of offsets; return them, and how many each pair holds."""
    size = end - begin
    edges = np.cumsum(size)
    if not len(edges) or not edges[-1]:
        return np.zeros(0, dtype=np.int64), np.zeros(len(size), dtype=np.int64)
    inside = _gathered(data, begin, end)
    last = np.flatnonzero(inside < 0x80)
    each = np.searchsorted(last, edges - 1, side="right")
    unended = np.flatnonzero((size > 0) & (inside[np.maximum(edges - 1, 0)] >= 0x80))
    if len(unended):
        raise BadProfile("A list ends inside a number", where=f"byte {int(begin[unended[0]])}")
    return _ended(inside, last, where=f"byte {int(begin[0])}"), np.diff(each, prepend=0)


def _ended(inside: Bytes, last: Ints, *, where: str) -> Ints:
    """Read consecutive varints from their last bytes, which are the most significant, back to their first."""
    length = np.diff(last, prepend=-1)
    longest = int(length.max())
    if longest > 10:
        raise BadProfile("A number is longer than 64 bits", where=where)
    value: NDArray[np.signedinteger[Any]] = inside[last].astype(np.int64 if longest > 4 else np.int32)
    for place in range(1, longest):
        # Before the first number this wraps around to the end, and is not used.
        value = np.where(length > place, value << 7 | (inside[last - place] & 0x7F), value)
    return value.astype(np.int64)


def _gathered(data: Bytes, begin: Ints, end: Ints) -> Bytes:
    """Return the bytes between pairs of offsets, concatenated."""
    low, high = int(begin[0]), int(end[-1])
    size = end - begin
    if high - low > 8 * int(size.sum()) or (begin[1:] < end[:-1]).any():
        edges = np.cumsum(size)
        return np.asarray(data[np.repeat(begin - (edges - size), size) + np.arange(edges[-1])])
    # Close together, as samples are in a file: marking which bytes are inside is cheaper than listing their offsets.
    steps = np.zeros(high - low + 1, dtype=np.int8)
    steps[begin - low] += 1
    steps[end - low] -= 1
    return np.asarray(data[low:high][np.cumsum(steps[:-1], dtype=np.int8).view(np.bool_)])

"""Protobuf's wire format, field by field, for what occurs once; ``columns`` reads what occurs a million times.

Encoding: protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

import mmap
from array import array
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evidence.formats.base import held
from evidence.profile.errors import BadProfile
from evidence.profile.stacks import Ints

Buffer = bytes | mmap.mmap

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
# After this many bytes, what was read is released.
STEP = 32 << 20


@dataclass(frozen=True, slots=True)
class Top:
    """The fields of the outermost message by number: where the bytes of each begin and end."""

    begin: list[array[int]]
    end: list[array[int]]

    def ranges(self, number: int) -> tuple[Ints, Ints]:
        """Return where each field of this number begins and ends."""
        return _ints(self.begin[number]), _ints(self.end[number])


def top(data: Buffer) -> Top:
    """Find the fields of the outermost message. Raises ``BadProfile`` naming the byte where it breaks off.

    It may have millions of fields, nearly all of them messages with a small number and size; those are read inline.
    """
    begin, end = ([array("q") for _ in range(16)] for _ in range(2))
    add = [(begin[tag >> 3].append, end[tag >> 3].append) if tag & 0x87 == LENGTH else None for tag in range(256)]
    at, size = 0, len(data)
    while at < size - 4:
        stop = min(size - 4, at + STEP)
        while at < stop:
            found, length, start = add[data[at]], data[at + 1], at + 2
            if length >= 0x80:
                length, start = length + (data[start] << 7) - 0x80, at + 3
            if found and length < 0x4000 and start + length <= size:
                found[0](start)
                at = start + length
                found[1](at)
            else:
                at = _add(data, at, begin, end)
        held.leave(data, 0, min(at, size))
    while at < size:
        at = _add(data, at, begin, end)
    return Top(begin, end)


def _add(data: Buffer, at: int, begin: list[array[int]], end: list[array[int]]) -> int:
    """Add the field at an offset, whatever it is; return the offset after it."""
    number, _, start, stop = next(walk(data, at, len(data)))
    if number < len(begin):
        begin[number].append(start)
        end[number].append(stop)
    return stop


def walk(data: Buffer, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield (number, wire type, begin, end) for each field of one message; for a varint, the bytes of the number.

    Raises ``BadProfile`` for malformed bytes.
    """
    while at < end:
        tag, start = varint(data, at, end)
        kind = tag & 7
        if kind == LENGTH:
            size, start = varint(data, start, end)
            stop = start + size
        elif kind == VARINT:
            stop = varint(data, start, end)[1]
        elif kind in (FIXED64, FIXED32):
            stop = start + (8 if kind == FIXED64 else 4)
        else:
            raise BadProfile(f"Unknown protobuf wire type {kind}", where=f"byte {at}")
        if stop > end:
            raise BadProfile(f"It ends {stop - end} bytes early, within field {tag >> 3}", where=f"byte {end}")
        yield tag >> 3, kind, start, stop
        at = stop


def varint(data: Buffer, at: int, end: int) -> tuple[int, int]:
    """Read one varint; return it and the offset after it. Raises ``BadProfile`` for malformed bytes."""
    value = shift = 0
    for place in range(at, min(at + 10, end)):
        byte = data[place]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place + 1
        shift += 7
    cut = at + 10 > end
    raise BadProfile("It ends inside a number" if cut else "A number is longer than 64 bits", where=f"byte {at}")


def _ints(numbers: array[int]) -> Ints:
    return np.frombuffer(numbers, dtype=np.int64) if numbers else np.zeros(0, dtype=np.int64)

"""JFR's variable-length numbers in bulk: one at each of many offsets, or all in a stretch. Pure: numpy alone.

A number has seven bits per byte, and eight in the ninth and last.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evidence.profile.stacks import Ints

Bytes = NDArray[np.uint8]
# How much of a stretch is read at once, so that its columns stay in the processor's cache, where a byte costs half.
WINDOW = 1 << 18
LONGEST = 9
# The size of the hash table for finding values, in bits; the multiplier is from Knuth, TAOCP 3, 6.4.
SLOT_BITS = 17
MIXED = np.uint64(0x9E3779B97F4A7C15)


class Stretch(NamedTuple):
    """Consecutive numbers from an offset on, where each ends, and how many bytes it has."""

    values: Ints
    ends: Ints
    lengths: Ints


def at(data: Bytes, places: Ints) -> tuple[Ints, Ints]:
    """Read one number at each offset; return them and the offsets after them, past the end for truncated ones."""
    last = len(data) - 1
    byte = data[np.minimum(places, last)]
    value = (byte & 0x7F).astype(np.int64)
    after = places + 1
    more = np.flatnonzero(byte >= 0x80)
    for shift in range(7, 7 * (LONGEST - 1), 7):
        if not len(more):
            return value, after
        byte = data[np.minimum(after[more], last)]
        value[more] |= (byte & 0x7F).astype(np.int64) << shift
        after[more] += 1
        more = more[byte >= 0x80]
    value[more] |= data[np.minimum(after[more], last)].astype(np.int64) << 56
    after[more] += 1
    return value, after


def stretch(data: Bytes, begin: int) -> Stretch:
    """Read the numbers from ``begin`` on, up to ``WINDOW`` bytes or the first one with a ninth byte above 127."""
    part = data[begin : begin + WINDOW]
    ends = np.flatnonzero(part < 0x80)
    first = np.zeros(len(ends), dtype=np.int64)
    first[1:] = ends[:-1] + 1
    lengths = ends - first + 1
    if len(lengths) and int(lengths.max()) > LONGEST:
        ends = ends[: int(np.argmax(lengths > LONGEST))]
        first, lengths = first[: len(ends)], lengths[: len(ends)]
    values = (part[first] & 0x7F).astype(np.int64)
    for byte in range(1, int(lengths.max(initial=1))):
        longer = np.flatnonzero(lengths > byte)
        values[longer] |= (part[first[longer] + byte] & 0x7F).astype(np.int64) << 7 * byte
    return Stretch(values, ends + begin, lengths)


def numbered(values: Ints) -> tuple[Ints, Ints]:
    """Return the distinct values among many, and for each value its number among them, without sorting them all."""
    bits = min(len(values).bit_length() + 1, SLOT_BITS)
    slots = ((values.astype(np.uint64) * MIXED) >> np.uint64(64 - bits)).astype(np.int64)
    kept = np.zeros(1 << bits, dtype=np.int64)
    kept[slots] = values
    used = np.zeros(1 << bits, dtype=np.bool_)
    used[slots] = True
    places = np.flatnonzero(used)
    number = np.zeros(1 << bits, dtype=np.int64)
    number[places] = np.arange(len(places))
    different, numbers = kept[places], number[slots]
    others = np.flatnonzero(different[numbers] != values)  # they share their slot with another value that is kept
    if len(others):
        more, of_more = np.unique(values[others], return_inverse=True)
        numbers[others] = len(different) + of_more
        different = np.concatenate([different, more])
    return different, numbers

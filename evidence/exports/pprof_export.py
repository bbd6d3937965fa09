"""A profile as gzipped pprof, with all its sample types. Pure: numpy alone.

A sample consists only of numbers, tags and sizes included, so tens of thousands are laid out as one column of numbers
and encoded together. Source of the field numbers: github.com/google/pprof, ``proto/profile.proto``.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from evidence.profile.stacks import Ints, Stacks

AT_ONCE = 1 << 14
KERNEL = "[kernel.kallsyms]"
PROGRAM_MAPPING, KERNEL_MAPPING = 1, 2
_GZIP = 31
_COMMENTS = 100


def pprof(stacks: Stacks) -> bytes:
    """Return the profile as ``go tool pprof`` and similar tools read it.

    Each function becomes a location. Kernel frames get a mapping of their own; pprof has no place for other hints.
    """
    packed = zlib.compressobj(6, zlib.DEFLATED, _GZIP)
    return b"".join([*(packed.compress(piece) for piece in _profile(stacks)), packed.flush()])


def _profile(stacks: Stacks) -> Iterator[bytes]:
    strings = _Strings()
    for kind in stacks.sample_types:
        yield _message(1, _numbers((1, strings.code(kind.name)), (2, strings.code(kind.unit))))
    yield from _samples(stacks)
    yield _message(3, _numbers((1, PROGRAM_MAPPING), (7, 1)))
    yield _message(3, _numbers((1, KERNEL_MAPPING), (5, strings.code(KERNEL)), (7, 1)))
    for code, (name, hint) in enumerate(zip(stacks.names, stacks.hints, strict=True)):
        mapping = KERNEL_MAPPING if hint == "kernel" else PROGRAM_MAPPING
        line = _message(4, _numbers((1, code + 1)))
        yield _message(4, _numbers((1, code + 1), (2, mapping)) + line)
        text = strings.code(name)
        yield _message(5, _numbers((1, code + 1), (2, text), (3, text)))
    yield from _said(stacks, strings)
    for string in strings.codes:
        yield _message(6, string.encode(errors="replace"))


def _said(stacks: Stacks, strings: _Strings) -> Iterator[bytes]:
    """Yield the profile's metadata: when, how long, its period and comments, and what to show first."""
    about = stacks.about
    yield _numbers((9, int(about.get("time_ns", 0))), (10, int(about.get("duration_ns", 0))))
    if period := about.get("period"):
        named = _numbers((1, strings.code(period["name"])), (2, strings.code(period["unit"])))
        yield _message(11, named) + _numbers((12, int(period["value"])))
    for comment in about.get("comments", [])[:_COMMENTS]:
        yield _numbers((13, strings.code(str(comment))))
    yield _numbers((14, strings.code(stacks.sample_types[stacks.default_type].name)))


def _samples(stacks: Stacks) -> Iterator[bytes]:
    """Yield samples in pieces of bounded size."""
    for low, high in pairwise([*range(0, len(stacks), AT_ONCE), len(stacks)]):
        offsets = stacks.offsets[low : high + 1]
        frames = stacks.frames[offsets[0] : offsets[-1]].astype(np.int64) + 1
        # Reversed, stacks begin at their leaf, as in pprof; so the samples are reversed as well.
        yield _laid_out(frames[::-1], np.diff(offsets)[::-1], stacks.values[:, low:high].T[::-1])


def _laid_out(locations: Ints, depths: Ints, values: Ints) -> bytes:
    """Lay out samples as numbers: tag, size, tag, size, locations, tag, size, values, and encode them."""
    samples, types = values.shape
    location_bytes = _summed(_lengths(locations), depths)
    value_bytes = _lengths(values).sum(axis=1)
    sizes = 2 + _lengths(location_bytes) + _lengths(value_bytes) + location_bytes + value_bytes
    width = depths + types + 6
    start = np.cumsum(width) - width
    numbers = np.empty(int(width.sum()), dtype=np.int64)
    for at, column in enumerate((np.full(samples, 0x12), sizes, np.full(samples, 0x0A), location_bytes)):
        numbers[start + at] = column
    within = np.arange(len(locations)) - np.repeat(np.cumsum(depths) - depths, depths)
    numbers[np.repeat(start + 4, depths) + within] = locations
    after = start + 4 + depths
    numbers[after], numbers[after + 1] = 0x12, value_bytes
    for type in range(types):
        numbers[after + 2 + type] = values[:, type]
    return _encoded(numbers)


def _summed(values: Ints, counts: Ints) -> Ints:
    """Sum consecutive groups of the given sizes."""
    sums = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(values)])
    ends = np.cumsum(counts)
    return np.asarray(sums[ends] - sums[ends - counts], dtype=np.int64)


def _lengths(numbers: Ints) -> Ints:
    """Return how many bytes each number takes; none is negative."""
    length = np.ones(numbers.shape, dtype=np.int64)
    for bits in range(7, 63, 7):
        longer = numbers >= (1 << bits)
        if not longer.any():
            break
        length += longer
    return length


def _encoded(numbers: Ints) -> bytes:
    """Write numbers as varints, one after the other."""
    length = _lengths(numbers)
    end = np.cumsum(length)
    start = end - length
    out = np.empty(int(end[-1]) if len(end) else 0, dtype=np.uint8)
    for place in range(int(length.max(initial=0))):
        which = np.flatnonzero(length > place)
        more = np.where(length[which] > place + 1, 0x80, 0)
        out[start[which] + place] = ((numbers[which] >> (7 * place)) & 0x7F) | more
    return out.tobytes()


class _Strings:
    """Strings by code; the first one is empty, as pprof requires."""

    def __init__(self) -> None:
        self.codes: dict[str, int] = {"": 0}

    def code(self, text: str) -> int:
        return self.codes.setdefault(text, len(self.codes))


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _numbers(*fields: tuple[int, int]) -> bytes:
    """Encode fields that are numbers; an absent field means zero."""
    return b"".join(_varint(number << 3) + _varint(value) for number, value in fields if value)


def _message(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content

"""Write a pprof profile with any number of sample types, field by field as its protocol buffer says.

Field numbers: https://github.com/google/pprof/blob/main/proto/profile.proto
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping, Sequence

SampleType = tuple[str, str]


def written(types: Sequence[SampleType], samples: Mapping[tuple[str, ...], Sequence[int]], *, default: str) -> bytes:
    """Write samples, each a stack from the root on with one value per type, compressed like pprof files."""
    strings = _Numbers([""])
    functions = _Numbers([""])
    parts = [_message(1, _pair(strings.of(type), strings.of(unit))) for type, unit in types]
    for stack, values in samples.items():
        codes = [functions.of(name) for name in reversed(stack)]
        parts.append(_message(2, _message(1, _ints(codes)) + _message(2, _ints(values))))
    for code, name in enumerate(functions.seen[1:], start=1):
        line = _number(1, code) + _number(2, 10 + code)
        parts.append(_message(4, _number(1, code) + _message(4, line)))
        parts.append(_message(5, _number(1, code) + _number(2, strings.of(name)) + _number(4, strings.of(_file(name)))))
    default_code = strings.of(default)
    parts += [_message(6, text.encode()) for text in strings.seen]
    return gzip.compress(b"".join(parts) + _number(14, default_code), mtime=0)


class _Numbers:
    """Numbers for words, in order of first appearance."""

    def __init__(self, seen: list[str]) -> None:
        self.seen = seen
        self._places = {word: place for place, word in enumerate(seen)}

    def of(self, word: str) -> int:
        place = self._places.setdefault(word, len(self.seen))
        if place == len(self.seen):
            self.seen.append(word)
        return place


def _file(name: str) -> str:
    return f"{name.partition('.')[0]}.go"


def _pair(first: int, second: int) -> bytes:
    return _number(1, first) + _number(2, second)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _message(field: int, body: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(body)) + body


def _ints(values: Iterable[int]) -> bytes:
    return b"".join(map(_varint, values))


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])

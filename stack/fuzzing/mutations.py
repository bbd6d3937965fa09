"""Ways to corrupt a file: bits, numbers, slices, nesting, JSON values. The same seed corrupts the same way."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

Mutation = Callable[[Random, bytes, Sequence[bytes]], bytes]
MOST = 1 << 18
NUMBERS = re.compile(rb"-?\d+(?:\.\d+)?")
ODD_NUMBERS = (
    0,
    -1,
    1,
    127,
    128,
    255,
    1 << 15,
    1 << 31,
    (1 << 31) - 1,
    1 << 32,
    (1 << 63) - 1,
    1 << 63,
    1 << 64,
    10**30,
)
ODD_VALUES: tuple[Any, ...] = (
    None, True, "", "\0", "\ud800", "x" * 5000, [], {}, [[]], -1, 0, 1.5, 1e308, -1e308, 1e-300, *ODD_NUMBERS,
)  # fmt: skip
ODD_BYTES = (
    b"\0", b"\xff" * 9, b"\x80" * 9, b"\xff\xff\xff\xff\x0f", b"\n", b";", b" ", b"\r\n", b"\xef\xbb\xbf", b"\xff\xfe",
    b"[" * 2000, b'{"a":' * 2000, b"_[k]", b"\x1b[2J", b"\xc3", b"NaN", b"Infinity", b"1e999",
)  # fmt: skip


def spoiled(random: Random, seeds: Sequence[bytes]) -> bytes:
    """Return one of the seeds after some mutations, usually few."""
    data = random.choice(seeds)
    for _ in range(1 + min(int(random.expovariate(0.6)), 12)):
        data = random.choice(MUTATIONS)(random, data, seeds)[:MOST]
    return data


def _flip(random: Random, data: bytes, _seeds: Sequence[bytes]) -> bytes:
    if not data:
        return data
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 8))):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _set(random: Random, data: bytes, _seeds: Sequence[bytes]) -> bytes:
    at = random.randrange(len(data) + 1)
    return data[:at] + bytes([random.randrange(256)]) + data[at + 1 :]


def _cut(random: Random, data: bytes, _seeds: Sequence[bytes]) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _remove(random: Random, data: bytes, _seeds: Sequence[bytes]) -> bytes:
    low, high = _slice(random, data)
    return data[:low] + data[high:]


def _repeat(random: Random, data: bytes, _seeds: Sequence[bytes]) -> bytes:
    low, high = _slice(random, data)
    return data[:high] + data[low:high] * random.choice((1, 2, 50)) + data[high:]


def _splice(random: Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    other = random.choice(seeds)
    low, high = _slice(random, other)
    at = random.randrange(len(data) + 1)
    return data[:at] + other[low:high] + data[at + random.choice((0, high - low)) :]


def _insert(random: Random, data: bytes, _seeds: Sequence[bytes]) -> bytes:
    at = random.randrange(len(data) + 1)
    return data[:at] + random.choice(ODD_BYTES) + data[at:]


def _inflate(random: Random, data: bytes, _seeds: Sequence[bytes]) -> bytes:
    """Put an odd number where a number is written in digits, or where four or eight bytes may be one."""
    odd = random.choice(ODD_NUMBERS)
    found = list(NUMBERS.finditer(data[: 1 << 16]))
    if found and random.random() < 0.7:
        number = random.choice(found)
        return data[: number.start()] + str(odd).encode() + data[number.end() :]
    size = random.choice((4, 8))
    at = random.randrange(len(data) + 1)
    return (
        data[:at] + (odd & ((1 << 8 * size) - 1)).to_bytes(size, random.choice(("big", "little"))) + data[at + size :]
    )


def _restructure(random: Random, data: bytes, _seeds: Sequence[bytes]) -> bytes:
    """Change one value somewhere in JSON; other content is unchanged."""
    try:
        tree = json.loads(data)
    except (ValueError, RecursionError):
        return data
    holders = list(_holders(tree))
    if not holders:
        return data
    holder = random.choice(holders)
    key = random.choice(list(holder)) if isinstance(holder, dict) else random.randrange(len(holder))
    other = random.choice(holders)
    action = random.randrange(4)
    if action == 0:
        del holder[key]
    elif action == 1 and isinstance(holder, list):
        holder.extend([holder[key]] * random.choice((1, 300)))
    elif action == 2 and not isinstance(other, type(holder[key])):
        holder[key] = json.loads(json.dumps(other)[: MOST // 4]) if len(json.dumps(other)) < MOST // 4 else None
    else:
        holder[key] = random.choice(ODD_VALUES)
    return json.dumps(tree).encode()


def _holders(tree: Any) -> list[Any]:
    """Return every list and object that is not empty."""
    found, waiting = [], [tree]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict | list) and one:
            found.append(one)
            waiting.extend(one.values() if isinstance(one, dict) else one)
    return found


def _slice(random: Random, data: bytes) -> tuple[int, int]:
    low = random.randrange(len(data) + 1)
    return low, min(len(data), low + random.choice((1, 2, 4, 8, 16, 64, 256, 4096)))


MUTATIONS: tuple[Mutation, ...] = (
    _flip, _flip, _set, _cut, _remove, _repeat, _splice, _insert, _inflate, _inflate, _restructure, _restructure,
)  # fmt: skip

"""Grow a call tree from sampled stacks, level by level, on two threads. Pure: numpy alone.

Samples are kept in the order of their nodes. One sort puts them in the order of the nodes below: its keys are the
node above, the names on the next few levels, and which sample it is, packed into 63 bits, so that nothing needs to be
carried along. In a key, names count from 1, and 0 says that the stack has ended. What passes a node is its own value
and what passes its children, added upwards.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evidence import calltree_levels
from evidence.calltree_levels import BITS, at
from evidence.stacks import Codes, Ints, Stacks

THREADS = min(2, os.cpu_count() or 1)
# Fewer samples are not worth a second thread; nor is one that would get less than this share of them.
WORTH_TWO = 20_000
FAIR = 0.3
# How many frames are looked at together when functions are counted.
CHUNK = 1 << 17
MOST_LEVELS = 3
NARROW = 1 << 16


@dataclass(slots=True)
class Samples:
    """Stacks as they are grown from, in less of the processor's cache: narrow frames, and lengths beside offsets."""

    frames: NDArray[np.integer[Any]]
    offsets: NDArray[np.integer[Any]]
    lengths: NDArray[np.integer[Any]]
    values: Ints
    names: int

    @classmethod
    def of(cls, stacks: Stacks) -> Samples:
        """Take what is needed of some stacks."""
        lengths = np.diff(stacks.offsets)
        return cls(
            stacks.frames.astype(np.uint16) if len(stacks.names) < NARROW else stacks.frames,
            stacks.offsets.astype(np.int32) if len(stacks.frames) < 1 << 31 else stacks.offsets,
            lengths.astype(np.int16 if lengths.max(initial=0) < NARROW >> 1 else np.int32),
            stacks.values,
            len(stacks.names),
        )

    @property
    def code_bits(self) -> int:
        """How many bits hold a name, counted from 1."""
        return self.names.bit_length()


@dataclass(slots=True)
class Grown:
    """One level: for each node its parent's place on the level above and its name; which nodes end stacks.

    ``ends`` are places on the level, ``own`` what they count themselves, ``like`` a sample that ends in each.
    """

    parent: Codes
    name: Codes
    ends: Codes
    own: Ints
    like: Ints


@dataclass(slots=True)
class Alive:
    """The samples that reach deeper than ``depth`` frames, in the order of their nodes on the level above."""

    samples: Ints
    group: Codes
    depth: int


def grow(stacks: Samples) -> list[Grown]:
    """Return the levels below the root."""
    samples = np.flatnonzero(stacks.lengths)
    alive = Alive(samples, np.zeros(len(samples), dtype=np.int32), 0)
    levels: list[Grown] = []
    while len(alive.samples):
        place = _middle(alive) if THREADS > 1 and len(alive.samples) >= WORTH_TWO else 0
        if place:
            return levels + _two(stacks, *_parted(alive, place))
        more, alive = _deeper(stacks, alive)
        levels += more
    return levels


def _middle(alive: Alive) -> int:
    """Return where to part the samples between two nodes into fair shares, 0 when there is no such place."""
    size = len(alive.samples)
    group = int(alive.group[size // 2])
    places = np.searchsorted(alive.group, [group, group + 1])
    place = int(min(places, key=lambda place: abs(int(place) - size // 2)))
    return place if FAIR * size <= place <= (1 - FAIR) * size else 0


def _parted(alive: Alive, place: int) -> tuple[Alive, Alive, int]:
    first = int(alive.group[place])
    left = Alive(alive.samples[:place], alive.group[:place], alive.depth)
    right = Alive(alive.samples[place:], alive.group[place:] - first, alive.depth)
    return left, right, first


def _two(stacks: Samples, left: Alive, right: Alive, first: int) -> list[Grown]:
    """Grow two parts at once and lay their levels side by side; the right part's parents begin at ``first``."""
    with ThreadPoolExecutor(THREADS) as threads:
        lefts, rights = threads.map(lambda alive: list(_all(stacks, alive)), (left, right))
    levels: list[Grown] = []
    none = _none(len(stacks.values))
    for one, two in zip_longest(lefts, rights, fillvalue=none):
        size = len(one.name)
        levels.append(
            Grown(
                np.concatenate([one.parent, two.parent + np.int32(first)]), np.concatenate([one.name, two.name]),
                np.concatenate([one.ends, two.ends + np.int32(size)]), np.concatenate([one.own, two.own], axis=1),
                np.concatenate([one.like, two.like]),
            )
        )  # fmt: skip
        first = size
    return levels


def _none(types: int) -> Grown:
    none, places = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)
    return Grown(places, places, places, np.zeros((types, 0), dtype=np.int64), none)


def _all(stacks: Samples, alive: Alive) -> Iterator[Grown]:
    while len(alive.samples):
        levels, alive = _deeper(stacks, alive)
        yield from levels


def _deeper(stacks: Samples, alive: Alive) -> tuple[list[Grown], Alive]:
    """Make one node of all samples that share their node above and their name, on as many levels as one sort holds."""
    bits = stacks.code_bits
    deep, keys, samples = _sorted(stacks, alive)
    levels: list[Grown] = []
    group: Codes = (keys >> (bits * deep)).astype(np.int32)
    code = _code(keys, bits, deep - 1)
    for further in range(deep - 1, -1, -1):
        here = keys >> (bits * further)
        new = np.empty(len(keys), dtype=np.bool_)
        new[0] = True
        np.not_equal(here[1:], here[:-1], out=new[1:])
        new &= code > 0
        nodes = np.flatnonzero(new)
        parent, group = at(group, nodes), np.cumsum(new, dtype=np.int32) - np.int32(1)
        below = _code(keys, bits, further - 1) if further else _goes_on(stacks, samples, alive.depth + deep)
        over = np.flatnonzero((code > 0) & (below == 0))
        ended = _ended(stacks, at(samples, over), at(group, over))
        levels.append(Grown(parent, (at(code, nodes) - 1).astype(np.int32), *ended))
        code = below
    on = np.flatnonzero(code)
    return [level for level in levels if len(level.name)], Alive(at(samples, on), at(group, on), alive.depth + deep)


def _code(keys: Ints, bits: int, further: int) -> Ints:
    return (keys >> (bits * further)) & ((1 << bits) - 1)


def _goes_on(stacks: Samples, samples: Ints, depth: int) -> Ints:
    left: Ints = np.maximum(at(stacks.lengths, samples) - depth, 0).astype(np.int64)
    return left


def _sorted(stacks: Samples, alive: Alive) -> tuple[int, Ints, Ints]:
    """Return of how many levels the keys hold the names, the keys in order, and the samples in that order."""
    sample_bits = len(stacks.lengths).bit_length()
    room = BITS - int(alive.group[-1]).bit_length() - sample_bits
    deep = max(min(MOST_LEVELS, room // stacks.code_bits), 1)
    return deep, *calltree_levels.in_order(_keys(stacks, alive, deep), alive.samples, bits=sample_bits)


def _keys(stacks: Samples, alive: Alive, deep: int) -> Ints:
    keys = alive.group.astype(np.int64)
    begins = at(stacks.offsets, alive.samples) + alive.depth
    left = at(stacks.lengths, alive.samples) - alive.depth if deep > 1 else None
    for level in range(deep):
        codes = at(stacks.frames, begins + level) + np.int32(1)
        keys <<= stacks.code_bits
        keys += codes if left is None or not level else np.where(left > level, codes, np.int32(0))
    return keys


def _ended(stacks: Samples, samples: Ints, group: Codes) -> tuple[Codes, Ints, Ints]:
    """Return the nodes in which stacks end, what these count, and one of them for each."""
    if not len(samples):
        none = _none(len(stacks.values))
        return none.ends, none.own, none.like
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    own = np.stack([np.add.reduceat(at(row, samples), starts) for row in stacks.values])
    return group[starts], own, samples[starts]


def through(stacks: Samples, samples: Ints, values: Ints) -> Ints:
    """Return what passes each function, one row a sample type: a sample counts once however often it recurs there.

    ``samples`` hold all different stacks, ``values`` what each of them counts in all.
    """
    totals = np.zeros((len(values), stacks.names), dtype=np.int64)
    order = np.argsort(samples)
    samples, values = samples[order], values[:, order]
    sizes = stacks.lengths[samples].astype(np.int64)
    ends = np.cumsum(sizes)
    cuts = np.searchsorted(ends, np.arange(CHUNK, int(ends[-1]) if len(ends) else 0, CHUNK)).tolist()
    bounds = [(a, b) for a, b in zip([0, *cuts], [*cuts, len(samples)], strict=True) if a < b]

    def counted(bound: tuple[int, int]) -> tuple[Ints, list[Ints]]:
        here = slice(*bound)
        return _once(stacks, samples[here], sizes[here], values[:, here])

    with ThreadPoolExecutor(THREADS if len(bounds) > 1 else 1) as threads:
        for codes, sums in threads.map(counted, bounds):
            for type, passed in enumerate(sums):
                totals[type, codes] += passed
    return totals


def _once(stacks: Samples, samples: Ints, sizes: Ints, values: Ints) -> tuple[Ints, list[Ints]]:
    """Return the functions of some samples, and what passes each of them."""
    bits = len(samples).bit_length()
    narrow = bits + stacks.code_bits < 32
    keys: Ints = _frames(stacks, samples, sizes).astype(np.int32 if narrow else np.int64)
    keys <<= bits
    keys |= np.repeat(np.arange(len(samples), dtype=keys.dtype), sizes)
    keys.sort()
    keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]
    codes, sample = keys >> bits, keys & ((1 << bits) - 1)
    starts = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]]))
    return codes[starts], [np.add.reduceat(at(row, sample), starts) for row in values]


def _frames(stacks: Samples, samples: Ints, sizes: Ints) -> NDArray[np.integer[Any]]:
    """Return the frames of some samples, which are in their order, one after the other."""
    if int(samples[-1]) - int(samples[0]) == len(samples) - 1:
        return stacks.frames[stacks.offsets[samples[0]] : stacks.offsets[samples[-1] + 1]]
    begins = stacks.offsets[samples] - np.cumsum(sizes) + sizes
    return stacks.frames[np.repeat(begins, sizes) + np.arange(int(sizes.sum()))]

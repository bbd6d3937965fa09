"""Grow a call tree from sampled stacks, level by level, on two threads. Pure: numpy alone.

Samples are kept in the order of their nodes. One sort puts them in the order of the nodes below: its keys are the node
above, the names on the next few levels, and the sample's number, packed into 63 bits, so that nothing has to be carried
along. In a key, names count from 1, and 0 means that the stack has ended. A node's total is its own value plus its
children's totals, added upwards.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evidence.profile.stacks import Codes, Ints, Stacks
from evidence.tree import tree_levels
from evidence.tree.tree_levels import BITS, at

THREADS = min(2, os.cpu_count() or 1)
# The maximum number of samples grown separately. In smaller parts, threads wait for one another more than they work.
PART = 1 << 16
# How many frames are processed together when functions are counted.
CHUNK = 1 << 17
MOST_LEVELS = 3
NARROW = 1 << 16


@dataclass(slots=True)
class GrowingSamples:
    """Stacks in a form that takes less of the processor's cache: narrow frames, and lengths in addition to offsets."""

    frames: NDArray[np.integer[Any]]
    offsets: NDArray[np.integer[Any]]
    lengths: NDArray[np.integer[Any]]
    values: Ints
    names: int

    @classmethod
    def of(cls, stacks: Stacks) -> GrowingSamples:
        """Convert stacks."""
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
        """How many bits a name takes, counted from 1."""
        return self.names.bit_length()


@dataclass(slots=True)
class Grown:
    """One level: each node's parent index on the level above and its name; which nodes end stacks.

    ``ends`` are indices on the level, ``own`` their self values, ``like`` a sample that ends in each.
    """

    parent: Codes
    name: Codes
    ends: Codes
    own: Ints
    like: Ints


@dataclass(slots=True)
class Alive:
    """The samples deeper than ``depth`` frames, in the order of their nodes on the level above."""

    samples: Ints
    group: Codes
    depth: int


AtOnce = Callable[
    [Callable[[tuple[GrowingSamples, Alive]], list[Grown]], list[tuple[GrowingSamples, Alive]]], Iterable[list[Grown]]
]


def grow(stacks: GrowingSamples) -> list[Grown]:
    """Return the levels below the root."""
    samples = np.flatnonzero(stacks.lengths)
    alive = Alive(samples, np.zeros(len(samples), dtype=np.int32), 0)
    with _at_once(len(samples) > PART) as at_once:
        return _grown(stacks, alive, at_once)


@contextmanager
def _at_once(many: bool) -> Iterator[Any]:
    """Yield a ``map`` that uses threads if there is much work; starting them takes as long as growing a small tree."""
    if not many:
        yield map
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(THREADS) as threads:
        yield threads.map


def _grown(stacks: GrowingSamples, alive: Alive, at_once: AtOnce) -> list[Grown]:
    """Return all further levels; once samples can be split between nodes, parts grow separately."""
    levels: list[Grown] = []
    while len(alive.samples):
        bounds = _bounds(alive)
        if len(bounds) > 1:
            parts = [_part(stacks, alive, *bound) for bound in bounds]
            grown = at_once(lambda part: _grown(part[0], part[1], map), parts)
            return levels + _side_by_side(stacks, alive, bounds, list(grown))
        more, alive = _deeper(stacks, alive)
        levels += more
    return levels


def _bounds(alive: Alive) -> list[tuple[int, int]]:
    """Return where to split samples between nodes, into parts of about equal size; one part if that is impossible."""
    size = len(alive.samples)
    part = -(-size // -(-size // PART))
    if part == size:
        return [(0, size)]
    cuts = np.unique(np.searchsorted(alive.group, alive.group[part:size:part]))
    bounds = list(pairwise([0, *cuts[cuts > 0].tolist(), size]))
    fair = max(high - low for low, high in bounds) <= max(4 * part, size // 2)
    return bounds if fair else [(0, size)]


def _part(stacks: GrowingSamples, alive: Alive, low: int, high: int) -> tuple[GrowingSamples, Alive]:
    """Return some samples as if they were all there are, and as if they began at their current depth."""
    samples = alive.samples[low:high]
    offsets, lengths = at(stacks.offsets, samples), at(stacks.lengths, samples)
    offsets += alive.depth
    lengths -= alive.depth
    part = GrowingSamples(stacks.frames, offsets, lengths, stacks.values.take(samples, axis=1), stacks.names)
    return part, Alive(np.arange(high - low), alive.group[low:high] - alive.group[low], 0)


def _side_by_side(
    stacks: GrowingSamples, alive: Alive, bounds: list[tuple[int, int]], parts: list[list[Grown]]
) -> list[Grown]:
    """Join the levels of parts: the nodes of each come after those of the previous parts."""
    above = [alive.group[low] for low, _ in bounds]
    none = _none(len(stacks.values))
    levels: list[Grown] = []
    for row in zip_longest(*parts, fillvalue=none):
        sizes = np.cumsum([0, *(len(one.name) for one in row)], dtype=np.int32)
        levels.append(
            Grown(
                np.concatenate([one.parent + start for one, start in zip(row, above, strict=True)]),
                np.concatenate([one.name for one in row]),
                np.concatenate([one.ends + start for one, start in zip(row, sizes, strict=False)]),
                np.concatenate([one.own for one in row], axis=1),
                np.concatenate([alive.samples[one.like + low] for one, (low, _) in zip(row, bounds, strict=True)]),
            )
        )
        above = list(sizes[:-1])
    return levels


def _none(types: int) -> Grown:
    none, places = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)
    return Grown(places, places, places, np.zeros((types, 0), dtype=np.int64), none)


def _deeper(stacks: GrowingSamples, alive: Alive) -> tuple[list[Grown], Alive]:
    """Merge samples with the same node above and the same name into nodes, for as many levels as one sort covers."""
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


def _goes_on(stacks: GrowingSamples, samples: Ints, depth: int) -> Ints:
    left: Ints = np.maximum(at(stacks.lengths, samples) - depth, 0).astype(np.int64)
    return left


def _sorted(stacks: GrowingSamples, alive: Alive) -> tuple[int, Ints, Ints]:
    """Return how many levels of names the keys hold, the keys in order, and the samples in that order."""
    sample_bits = len(stacks.lengths).bit_length()
    room = BITS - int(alive.group[-1]).bit_length() - sample_bits
    deep = max(min(MOST_LEVELS, room // stacks.code_bits), 1)
    return deep, *tree_levels.in_order(_keys(stacks, alive, deep), alive.samples, bits=sample_bits)


def _keys(stacks: GrowingSamples, alive: Alive, deep: int) -> Ints:
    keys = alive.group.astype(np.int64)
    begins = at(stacks.offsets, alive.samples) + alive.depth
    left = at(stacks.lengths, alive.samples) - alive.depth if deep > 1 else None
    for level in range(deep):
        codes = at(stacks.frames, begins + level) + np.int32(1)
        keys <<= stacks.code_bits
        keys += codes if left is None or not level else np.where(left > level, codes, np.int32(0))
    return keys


def _ended(stacks: GrowingSamples, samples: Ints, group: Codes) -> tuple[Codes, Ints, Ints]:
    """Return the nodes in which stacks end, what these count, and one sample for each."""
    if not len(samples):
        none = _none(len(stacks.values))
        return none.ends, none.own, none.like
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    own = np.stack([np.add.reduceat(at(row, samples), starts) for row in stacks.values])
    return group[starts], own, samples[starts]


def through(stacks: GrowingSamples, samples: Ints, values: Ints) -> Ints:
    """Return the total of each function: a sample counts once however often it recurs there.

    ``samples`` of shape (n,) hold all distinct stacks, ``values`` of (sample types, n) what each of them counts in all.
    The result has shape (sample types, names) and their units.
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

    with _at_once(len(bounds) > 1) as at_once:
        for codes, sums in at_once(counted, bounds):
            for type, passed in enumerate(sums):
                totals[type, codes] += passed
    return totals


def _once(stacks: GrowingSamples, samples: Ints, sizes: Ints, values: Ints) -> tuple[Ints, list[Ints]]:
    """Return the functions in some samples, and the total of each."""
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


def _frames(stacks: GrowingSamples, samples: Ints, sizes: Ints) -> NDArray[np.integer[Any]]:
    """Return the frames of some samples, concatenated in their order."""
    if int(samples[-1]) - int(samples[0]) == len(samples) - 1:
        return stacks.frames[stacks.offsets[samples[0]] : stacks.offsets[samples[-1] + 1]]
    begins = stacks.offsets[samples] - np.cumsum(sizes) + sizes
    return stacks.frames[np.repeat(begins, sizes) + np.arange(int(sizes.sum()))]

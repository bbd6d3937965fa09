"""Merge trees in breadth-first order into one, level by level, in no more memory than the result. Pure: numpy alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evidence.profile.stacks import Codes, Ints
from evidence.tree.tree_levels import at, in_order, width_of

Places = NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True)
class MergedSide:
    """One of the trees: nodes in breadth-first order, what each counts, the merged code of each of its names."""

    name: Codes
    parent: Codes
    levels: Ints
    totals: NDArray[np.integer[Any]]
    codes: Codes

    def level(self, depth: int) -> tuple[int, int]:
        """Return where the nodes of a level begin and end; levels that it does not have are empty."""
        low, high = (int(self.levels[min(at, len(self.levels) - 1)]) for at in (depth, depth + 1))
        return low, high

    def keys(self, depth: int, above: Places, bits: int) -> Ints:
        """Return for each node of a level its parent's index on the merged level above, and its name, as one number.

        ``above`` has the merged index of each node of the level above; a name fits in ``bits``. The result has the
        level's length.
        """
        low, high = self.level(depth)
        parents = self.parent[low:high] - np.int32(self.level(depth - 1)[0])
        keys: Ints = at(above, parents).astype(np.int64)
        keys <<= bits
        keys |= at(self.codes, self.name[low:high])
        return keys


@dataclass(frozen=True, slots=True)
class MergedNodes:
    """The nodes of the merged tree, breadth first; ``totals`` holds one row per side."""

    name: Codes
    parent: Codes
    levels: Ints
    totals: NDArray[np.integer[Any]]


def merged(sides: Sequence[MergedSide], *, names: int) -> MergedNodes:
    """Merge nodes with the same path; the result has every node of each side, with 0 if a side lacks it."""
    most = 1 + sum(len(side.name) - 1 for side in sides)
    name = np.zeros(most, dtype=width_of(names))
    parent = np.zeros(most, dtype=np.int32)
    totals = np.zeros((len(sides), most), dtype=width_of(max(int(side.totals[0]) for side in sides)))
    totals[:, 0] = [side.totals[0] for side in sides]
    bits = names.bit_length()
    starts = [0, 1]
    places: list[Places] = [np.zeros(1, dtype=np.int32) for _ in sides]
    for depth in range(1, max(len(side.levels) for side in sides) - 1):
        parts = [side.keys(depth, above, bits) for side, above in zip(sides, places, strict=True)]
        keys, place = _together(np.concatenate(parts))
        (low, begin), end = starts[-2:], starts[-1] + len(keys)
        name[begin:end] = keys & ((1 << bits) - 1)
        keys >>= bits
        keys += low
        parent[begin:end] = keys
        edges = pairwise(accumulate(map(len, parts), initial=0))
        places = [place[one:other] for one, other in edges]
        for row, side, here in zip(totals, sides, places, strict=True):
            row[begin:end][here] = side.totals[slice(*side.level(depth))]
        starts.append(end)
    size = starts[-1]
    return MergedNodes(name[:size], parent[:size], np.array(starts, dtype=np.int64), totals[:, :size])


def _together(keys: Ints) -> tuple[Ints, Codes]:
    """Return the distinct keys in order, and for each key its index among them."""
    ordered, order = in_order(keys)
    new = np.empty(len(ordered), dtype=np.bool_)
    new[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    place = np.empty(len(ordered), dtype=np.int32)
    place[order] = np.cumsum(new, dtype=np.int32) - np.int32(1)
    return ordered[new], place

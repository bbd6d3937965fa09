"""Building blocks for trees in breadth-first order: levels, their sums upwards, and sorts with packed keys. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from evidence.profile.stacks import Codes, Ints

BITS = 63
# How many children are counted at a time.
COUNTED = 1 << 18
Number = TypeVar("Number", bound=np.generic)


@dataclass(slots=True)
class TreeLevel:
    """One level of a tree under construction: each node's parent index on the level above, name, and totals."""

    parent: Codes
    name: Codes
    totals: Ints


def merge_level(
    group: NDArray[np.int64], codes: Codes, weights: Ints, n_names: int
) -> tuple[TreeLevel, NDArray[np.int64]]:
    """Merge items with the same parent and name into nodes; return the level, and for each item its node's index.

    For n items, ``group`` is the parent's index on the level above and ``codes`` the name, less than ``n_names``.
    ``weights`` has shape (sample types, n), in each sample type's unit, as have the level's totals.
    """
    bits = n_names.bit_length()
    ordered, order = in_order((group << bits) | codes)
    new = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    starts = np.flatnonzero(new)
    place = np.empty(len(ordered), dtype=np.int64)
    place[order] = np.cumsum(new, dtype=np.int32) - np.int32(1)
    totals = np.stack([sums(at(row, order), starts) for row in weights])
    keys = ordered[starts]
    parent, name = (keys >> bits).astype(np.int32), (keys & ((1 << bits) - 1)).astype(np.int32)
    return TreeLevel(parent, name, totals), place


def in_order(keys: Ints, places: Ints | None = None, *, bits: int = 0) -> tuple[Ints, Ints]:
    """Sort keys together with their places; return both, as long as ``keys``, which may be overwritten.

    Keys are not negative. Places are 0, 1, 2 … by default; if given, they must fit in ``bits``.
    """
    if places is None:
        places, bits = np.arange(len(keys)), len(keys).bit_length()
    if int(keys.max(initial=0)).bit_length() + bits > BITS:
        order = np.argsort(keys, kind="stable")
        return keys[order], places[order]
    keys <<= bits
    keys |= places
    keys.sort()
    places = keys & ((1 << bits) - 1)
    keys >>= bits
    return keys, places


def at(array: NDArray[Number], places: NDArray[np.integer[Any]]) -> NDArray[Number]:
    """Return the values of a one-dimensional array at some indices, in their shape.

    Indices beyond its end are not rejected; nothing comes of them.
    """
    return array.take(places, mode="clip")


def first_of(parent: Codes) -> Codes:
    """Return where the children of each node begin, and as the last element where they all end.

    ``parent`` has shape (n,), the result (n + 1,). Parents are ascending, so that children are counted in place, some
    at a time, in little memory.
    """
    first = np.zeros(len(parent) + 1, dtype=np.int32)
    first[0] = 1
    for begin in range(1, len(parent), COUNTED):
        some = parent[begin : begin + COUNTED]
        children = np.bincount(some - some[0])
        first[int(some[0]) + 1 :][: len(children)] += children.astype(np.int32)
    return np.cumsum(first, dtype=np.int32, out=first)


def by_name(name: Codes, values: Ints, names: int) -> Ints:
    """Return the sums of values by name, of shape (sample types, ``names``), in the values' units.

    ``name`` has shape (n,) and ``values`` (sample types, n).
    """
    sums = np.zeros((len(values), names), dtype=np.int64)
    for row, own in zip(sums, values, strict=True):
        np.add.at(row, name, own)
    return sums


def sums(values: NDArray[np.integer[Any]], starts: Ints) -> Ints:
    """Return the sums from each start to the next; the first start is 0. The result has the shape of ``starts``.

    They are differences of running sums, which is faster than summing each part, and correct even if a running sum
    wraps around. ``values`` has one dimension.
    """
    before = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum(values, out=before[1:])
    return np.diff(at(before, starts), append=before[-1])


def upwards(own: NDArray[Number], first: Codes, levels: NDArray[np.int64]) -> NDArray[Number]:
    """Turn nodes' self values into totals, which include their children's.

    ``own`` has shape (sample types, nodes), ``first`` (nodes + 1,), ``levels`` where each level begins and the last
    ends. Works in place, in a type that holds the totals; units stay.
    """
    totals = own
    for low, high in reversed(list(pairwise(levels.tolist()[:-1]))):
        begins = first[low:high] - np.int32(high)
        for row in totals:
            row[low:high] += sums(row[high : int(first[high])], begins)
    return totals


def own(totals: NDArray[np.integer[Any]], first: Codes) -> Ints:
    """Return each node's self value for one sample type: its total without its children's.

    ``totals`` and the result have shape (nodes,) and one unit, ``first`` has (nodes + 1,).
    """
    return totals - sums(totals[1:], first[:-1] - np.int32(1))


def narrowed(array: NDArray[np.integer[Any]]) -> NDArray[np.integer[Any]]:
    """Return non-negative whole numbers in the narrowest type that holds them all; signed, for subtraction."""
    return array.astype(width_of(int(array.max(initial=0))))


def width_of(largest: int) -> type[np.signedinteger[Any]]:
    """Return the narrowest signed type that holds numbers from 0 to ``largest``."""
    return next(width for width in (np.int16, np.int32, np.int64) if largest <= np.iinfo(width).max)

"""The drawable part of a tree in breadth-first order. Pure: numpy alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evidence.profile.stacks import Codes, Ints


@dataclass(frozen=True, slots=True)
class DrawableBoxes:
    """The boxes at least as wide as requested, level by level, parents before children.

    ``level`` counts from the requested root; ``x`` and ``width`` are in the sample type's unit, ``x`` from that root's
    left edge. ``pruned`` children of drawn boxes were too narrow.
    """

    node: Codes
    level: Codes
    x: Ints
    width: Ints
    name: Codes
    pruned: int


def seen(name: Codes, first: Codes, widths: NDArray[np.integer[Any]], *, root: int, least: int) -> DrawableBoxes:
    """Return the boxes under ``root`` that are at least ``least`` wide; the cost follows what is visible.

    ``name`` and ``widths`` of shape (nodes,) and ``first`` of (nodes + 1,) are those of a tree in breadth-first order.
    ``least`` is in the unit of ``widths``.
    """
    nodes, xs = np.array([root], dtype=np.int32), np.array([0], dtype=np.int64)
    found: list[tuple[Codes, Ints, Ints]] = []
    pruned = 0
    while len(nodes):
        found.append((nodes, xs, widths[nodes].astype(np.int64)))
        inside, owner = children(first, nodes)
        width = widths[inside].astype(np.int64)
        before = np.cumsum(width) - width
        edges = np.searchsorted(owner, np.arange(len(nodes)))
        base = before[np.minimum(edges, len(before) - 1)] if len(before) else before
        x = xs[owner] + before - base[owner] if len(before) else before
        wide = width >= max(least, 1)
        pruned += int(np.count_nonzero(~wide & (width > 0)))
        nodes, xs = inside[wide].astype(np.int32), x[wide]
    node = np.concatenate([one[0] for one in found])
    level = np.repeat(np.arange(len(found), dtype=np.int32), [len(one[0]) for one in found])
    x, width = (np.concatenate([one[part] for one in found]) for part in (1, 2))
    return DrawableBoxes(node, level, x, width, name[node], pruned)


def children(first: Codes, nodes: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return all children of some nodes, and for each the index of its parent among them: arrays of equal length.

    ``first`` has shape (nodes of the tree + 1,).
    """
    start = first[nodes].astype(np.int64)
    counts = first[nodes.astype(np.int64) + 1].astype(np.int64) - start
    owner = np.repeat(np.arange(len(nodes)), counts)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    return start[owner] + within, owner

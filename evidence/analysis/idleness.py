"""Leave out the stacks in which nothing ran. Pure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from evidence.analysis import layers
from evidence.profile.stacks import Ints
from evidence.tree.calltree import CallTree


def has_idle(tree: CallTree) -> bool:
    """Return whether any frame of a profile is idle."""
    return any(part.any() for part in _told(tree))


def busy(tree: CallTree) -> CallTree:
    """Return the same tree with node totals that leave out idle stacks; the totals of functions are unchanged."""
    totals = [without_idle(tree, type=type) for type in range(len(tree.sample_types))]
    return replace(tree, totals=np.stack(totals))


def without_idle(tree: CallTree, *, type: int) -> Ints:
    """Return every node's total without idle stacks: shape (nodes,), in the sample type's unit.

    It takes a few passes over the tree. Idle is everything below an idle function, plus what a thread's own frame
    counts itself: tracing-flame puts the time between spans there.
    """
    widths = tree.totals[type].astype(np.int64)
    before = np.concatenate([[0], np.cumsum(widths)])
    own = widths - (before[tree.first[1:]] - before[tree.first[:-1]])
    idle, threads = _told(tree)
    own[1:][threads[tree.name[1:]]] = 0
    covered = np.zeros(len(tree), dtype=np.bool_)
    rows = list(zip(tree.levels[1:-1].tolist(), tree.levels[2:].tolist(), strict=True))
    for low, high in rows:
        covered[low:high] = covered[tree.parent[low:high]] | idle[tree.name[low:high]]
    own[covered] = 0
    for (up, _), (low, high) in reversed(list(zip([(0, 1), *rows], rows, strict=False))):
        sums = np.concatenate([[0], np.cumsum(own[low:high])])
        edges = tree.first[up : low + 1] - low
        own[up:low] += sums[edges[1:]] - sums[edges[:-1]]
    return np.asarray(own)


def _told(tree: CallTree) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return for each name whether it is idle, and whether it stands for a thread."""
    pairs = zip(tree.names, tree.hints, strict=True)
    idle = np.fromiter((layers.is_idle(name, hint) for name, hint in pairs), dtype=np.bool_, count=len(tree.names))
    threads = np.fromiter((layers.is_thread(name) for name in tree.names), dtype=np.bool_, count=len(tree.names))
    return idle, threads

"""Leave out the stacks in which nothing ran. Pure."""

from __future__ import annotations

import numpy as np

from evidence import layers
from evidence.calltree import CallTree
from evidence.stacks import Ints


def without_idle(tree: CallTree, *, type: int) -> Ints:
    """Return every node's total without idle stacks: one pass over the tree.

    Idle is all that passes an idle function, and what a thread's own frame counts itself: tracing-flame writes the
    time between spans there.
    """
    own = tree.totals[type].astype(np.int64)
    np.subtract.at(own, tree.parent[1:], tree.totals[type, 1:].astype(np.int64))
    idle, threads = _told(tree)
    own[1:][threads[tree.name[1:]]] = 0
    covered = np.zeros(len(tree), dtype=np.bool_)
    rows = list(zip(tree.levels[1:-1].tolist(), tree.levels[2:].tolist(), strict=True))
    for low, high in rows:
        covered[low:high] = covered[tree.parent[low:high]] | idle[tree.name[low:high]]
    own[covered] = 0
    for low, high in reversed(rows):
        np.add.at(own, tree.parent[low:high], own[low:high])
    return np.asarray(own)


def idle_total(tree: CallTree, *, type: int) -> int:
    """Return how much of a profile is idle."""
    idle, threads = _told(tree)
    if not idle.any() and not threads.any():
        return 0
    return tree.total(type) - int(without_idle(tree, type=type)[0])


def _told(tree: CallTree) -> tuple[np.ndarray[tuple[int], np.dtype[np.bool_]], ...]:
    """Tell for each name whether it is idle, and whether it stands for a thread."""
    pairs = zip(tree.names, tree.hints, strict=True)
    idle = np.fromiter((layers.is_idle(name, hint) for name, hint in pairs), dtype=np.bool_, count=len(tree.names))
    threads = np.fromiter((layers.is_thread(name) for name in tree.names), dtype=np.bool_, count=len(tree.names))
    return idle, threads

"""Which functions a profile is about: the dominant one, its caller, and those used for *Seen before*. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evidence.analysis import layers, plumbing
from evidence.profile.stacks import Codes, Ints
from evidence.tree import tree_boxes
from evidence.tree.calltree import ROOT, CallTree

NARROWS = 0.5  # a path is followed while it keeps at least this much of its start
WORTH = 0.02  # of everything: less is not worth a sentence
NEARLY_ALL = 0.97  # of everything: a function on nearly every stack says little about where the cost is
HOT = 24
PROCESS_FIRST = "perf script"  # the format whose stacks begin with the name of a process
Places = NDArray[np.int64]


def of(tree: CallTree, type: int) -> int | None:
    """Return the function that the sentence is about, or None if none stands out.

    The heaviest path is followed from the root, or from the application's heaviest function if the root itself
    branches, as long as it keeps at least half of its start. The application's deepest function on it is what someone
    can change; the runtime and the kernel below it are how it costs.
    """
    path = _down(tree, type, np.array([ROOT]))
    named = _own(tree, type, path)
    if not named or _is_all(tree, type, named[-1]):
        start = _heaviest(tree, type, below=NEARLY_ALL)
        if start is not None:
            below = [start, *_down(tree, type, tree.nodes_of(start))]
            named = _own(tree, type, below) or named
    passed = [code for code in path if not _is_all(tree, type, code) and not is_idle(tree, code)]
    return next(reversed(named or passed), _any(tree, type))


def _own(tree: CallTree, type: int, path: Sequence[int]) -> list[int]:
    """Return the application's functions on a path that are worth a sentence."""
    least = WORTH * tree.total(type)
    return [code for code in path if tree.function_totals[type, code] >= least and not plumbing.is_plumbing(tree, code)]


def _any(tree: CallTree, type: int) -> int | None:
    """Return the heaviest function of any kind that is neither idle nor on nearly every stack, if worth a sentence."""
    own, totals = tree.self_[type], tree.function_totals[type]
    for code in np.lexsort((-own, -totals)).tolist():
        if totals[code] < WORTH * tree.total(type):
            return None
        if not _is_all(tree, type, code) and not is_idle(tree, code):
            return int(code)
    return None


def is_idle(tree: CallTree, code: int) -> bool:
    """Return whether nothing runs while a function is on a stack."""
    return layers.is_idle(tree.names[code], tree.hints[code])


def _heaviest(tree: CallTree, type: int, *, below: float) -> int | None:
    """Return the application's heaviest function that is not on nearly every stack."""
    most = below * tree.total(type)
    for code in np.argsort(-tree.function_totals[type], kind="stable").tolist():
        value = tree.function_totals[type, code]
        if value < WORTH * tree.total(type):
            return None
        if value <= most and not plumbing.is_plumbing(tree, code):
            return int(code)
    return None


def _is_all(tree: CallTree, type: int, code: int) -> bool:
    alone = tree.self_[type, code] < 0.5 * tree.function_totals[type, code]
    return bool(alone and tree.function_totals[type, code] >= NEARLY_ALL * tree.total(type))


def hot(tree: CallTree, *, type: int | None = None) -> list[dict[str, float | str]]:
    """Return the functions by which a profile is matched with others: name, share, self_share.

    Leaves out plumbing and functions that every program has.
    """
    type = tree.default_type if type is None else type
    total = tree.total(type)
    if not total:
        return []
    order = np.argsort(-tree.function_totals[type], kind="stable")[: HOT * 20]
    found: list[dict[str, float | str]] = []
    for code in order.tolist():
        share = float(tree.function_totals[type, code] / total)
        if share < WORTH or len(found) == HOT:
            break
        known = plumbing.is_everywhere(tree.names[code]) or plumbing.is_plumbing(tree, code)
        if share < NEARLY_ALL and not known:
            found.append(
                {"name": tree.names[code], "share": share, "self_share": float(tree.self_[type, code] / total)}
            )
    return found


def caller_of(tree: CallTree, type: int, code: int) -> str:
    """Return the main caller of a function, skipping itself and plumbing; empty if there is none."""
    processes = set(tree.name[tree.first[ROOT] : tree.first[1]].tolist()) if tree.format == PROCESS_FIRST else set()
    for above in _up(tree, type, tree.nodes_of(code)):
        if above != code and above not in processes and not plumbing.is_plumbing(tree, above):
            return tree.names[above]
    return ""


def _down(tree: CallTree, type: int, nodes: Places) -> list[int]:
    """Return the functions on the heaviest path down from some nodes taken together, while it keeps half of them."""
    path: list[int] = []
    while True:
        inside, _ = tree_boxes.children(tree.first, nodes.astype(np.int32))
        code, most = _most(tree.name[inside], tree.totals[type, inside])
        if most < max(1, NARROWS * int(tree.totals[type, nodes].sum(dtype=np.int64))):
            return path
        path.append(code)
        nodes = inside[tree.name[inside] == code]


def _up(tree: CallTree, type: int, nodes: Places) -> list[int]:
    """Return the functions on the heaviest path up from some nodes, while it keeps half of what they count."""
    path: list[int] = []
    weights = tree.totals[type, nodes].astype(np.int64)
    while True:
        above = tree.parent[nodes].astype(np.int64)
        there = above != ROOT
        code, most = _most(tree.name[above[there]], weights[there])
        if most < max(1, NARROWS * int(weights.sum())):
            return path
        path.append(code)
        on = there & (tree.name[above] == code)
        nodes, weights = above[on], weights[on]


def _most(codes: Codes, weights: Ints) -> tuple[int, int]:
    """Return the function that counts most, and how much; among equals the first by name."""
    if not len(codes):
        return 0, 0
    known, place = np.unique(codes, return_inverse=True)
    sums = np.zeros(len(known), dtype=np.int64)
    np.add.at(sums, place, weights.astype(np.int64))
    return int(known[np.argmax(sums)]), int(sums.max())

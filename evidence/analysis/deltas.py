"""A profile that is a difference of two: growth and shrinkage are separate sample types, shown as one. Pure.

``about["deltas"]`` names each such pair: [name, sample type of the growth, sample type of the shrinkage].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evidence.profile import amounts
from evidence.profile.stacks import Ints
from evidence.tree.calltree import CallTree

NEAR = 0.9  # of the largest change: callers change along with what they call


class Delta(NamedTuple):
    """One thing that was compared: its name and unit, and the sample types of growth and shrinkage."""

    name: str
    unit: str
    grew: int
    shrank: int


def of(tree: CallTree, type: int) -> Delta | None:
    """Return the difference that a sample type is one side of, if any."""
    for name, grew, shrank in tree.about.get("deltas", []):
        if type in {grew, shrank} and max(grew, shrank) < len(tree.sample_types):
            return Delta(str(name), tree.sample_types[grew].unit, int(grew), int(shrank))
    return None


def net(tree: CallTree, delta: Delta) -> int:
    """Return how much the whole changed."""
    return tree.total(delta.grew) - tree.total(delta.shrank)


def functions(tree: CallTree, delta: Delta) -> Ints:
    """Return how much each function changed, including everything it calls: shape (names,), in the delta's unit."""
    grew, shrank = (tree.function_totals[side].astype(np.int64) for side in (delta.grew, delta.shrank))
    return np.asarray(grew - shrank, dtype=np.int64)


def signed(value: int, unit: str) -> str:
    """Format a change with its sign."""
    return ("+" if value > 0 else "−" if value < 0 else "±") + amounts.amount(abs(value), unit)


def most(tree: CallTree, delta: Delta, *, sign: int, leave_out: frozenset[int] = frozenset()) -> tuple[str, int] | None:
    """Return the function that grew (1) or shrank (-1) most; the most specific of those that did about as much."""
    changed = functions(tree, delta) * sign
    order = [code for code in np.argsort(-changed, kind="stable").tolist() if changed[code] > 0]
    own = [code for code in order if code not in leave_out] or order
    if not own:
        return None
    near = [code for code in own[:200] if changed[code] >= NEAR * changed[own[0]]]
    deepest = max(near, key=lambda code: int(np.argmax(tree.name[1:] == code)))
    return tree.names[deepest], int(changed[deepest]) * sign

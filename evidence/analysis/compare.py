"""Two or more profiles of the same unit as one tree, and what moved between them. Pure: numpy alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evidence.analysis import pair_guards, sentence
from evidence.profile.amounts import percent
from evidence.profile.stacks import SampleType
from evidence.tree import tree_merging
from evidence.tree.calltree import CallTree
from evidence.tree.tree_levels import first_of

MOVED = 0.005  # of all: half a percentage point
NEAR = 50  # of those, as many are looked at
AS_MUCH = 0.85  # of the largest move; the most particular of those that moved so is named
HALF_AS_FAR = 0.5  # of the largest move: what moved so far the other way is named beside it


class NotComparable(ValueError):
    """These profiles do not count the same thing; the message says what each counts."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A function on two sides: exact self and total of each, and shares of each side's total, from 0 to 1."""

    name: str
    total: tuple[int, int]
    self_: tuple[int, int]
    share: tuple[float, float]
    self_share: tuple[float, float]

    @property
    def points(self) -> float:
        """By how many percentage points its share of all changed; negative when it fell."""
        return 100 * (self.share[1] - self.share[0])

    @property
    def is_new(self) -> bool:
        """Whether it is on the second side alone."""
        return not self.total[0] and self.total[1] > 0

    @property
    def is_gone(self) -> bool:
        """Whether it is on the first side alone."""
        return not self.total[1] and self.total[0] > 0


def same_type(trees: Sequence[CallTree], type: str = "") -> list[int]:
    """Return for each tree the place of the sample type to compare: ``type`` by name, else the first's own.

    Where not all have the first's own, it is the first of its types that all have, so that it does not matter which of
    them is first. Names and units must be equal. Raises ``NotComparable``.
    """
    first = trees[0]
    own = first.sample_types[first.default_type]
    shared = [one for one in (own, *first.sample_types) if all(one in tree.sample_types for tree in trees)]
    wanted = next((one for one in first.sample_types if one.name == type), shared[0] if shared else own)
    places = []
    for tree in trees:
        if wanted not in tree.sample_types:
            has = ", ".join(f"{one.name} in {one.unit}" for one in tree.sample_types)
            counts = f"one counts {wanted.name} in {wanted.unit}, the other has {has}"
            raise NotComparable(f"These can't be compared: {counts}.")
        places.append(tree.sample_types.index(wanted))
    return places


def merge(trees: Sequence[CallTree], *, types: Sequence[int], labels: Sequence[str]) -> CallTree:
    """Return one tree with a sample type for each given tree, named by its label; every node of each is in it."""
    names = sorted(set().union(*(tree.names for tree in trees)))
    code_of = {name: code for code, name in enumerate(names)}
    codes = [np.array([code_of[name] for name in tree.names], dtype=np.int32) for tree in trees]
    unit = trees[0].sample_types[types[0]].unit
    sides = [
        tree_merging.MergedSide(tree.name, tree.parent, tree.levels, tree.totals[type], code)
        for tree, type, code in zip(trees, types, codes, strict=True)
    ]
    nodes = tree_merging.merged(sides, names=len(names))
    self_ = np.zeros((len(trees), len(names)), dtype=np.int64)
    function_totals = np.zeros_like(self_)
    for row, (code, tree, type) in enumerate(zip(codes, trees, types, strict=True)):
        self_[row, code] = tree.self_[type]
        function_totals[row, code] = tree.function_totals[type]
    return CallTree(
        names=names, hints=_hints(trees, code_of), name=nodes.name, parent=nodes.parent,
        first=first_of(nodes.parent), levels=nodes.levels, totals=nodes.totals, self_=self_,
        function_totals=function_totals, sample_types=tuple(SampleType(label, unit) for label in labels),
        format=trees[0].format,
    )  # fmt: skip


def _hints(trees: Sequence[CallTree], code_of: dict[str, int]) -> list[str]:
    hints = [""] * len(code_of)
    for tree in trees:
        for name, hint in zip(tree.names, tree.hints, strict=True):
            hints[code_of[name]] = hints[code_of[name]] or hint
    return hints


def moved(merged: CallTree, *, before: int = 0, after: int = 1, least: float = MOVED) -> list[Moved]:
    """Return the functions whose share of all changed by at least ``least``, the largest change first.

    ``before`` and ``after`` are sample types of a merged tree. Functions of either side alone count.
    """
    sides = (before, after)
    of = [max(merged.total(side), 1) for side in sides]
    shares = [merged.function_totals[side] / whole for side, whole in zip(sides, of, strict=True)]
    change = np.abs(shares[1] - shares[0])
    order = np.argsort(-change, kind="stable")
    return [_moved(merged, code, sides, of) for code in order.tolist() if change[code] >= least and change[code] > 0]


def _moved(merged: CallTree, code: int, sides: tuple[int, int], of: Sequence[int]) -> Moved:
    total = [int(merged.function_totals[side, code]) for side in sides]
    own = [int(merged.self_[side, code]) for side in sides]
    return Moved(
        merged.names[code],
        (total[0], total[1]),
        (own[0], own[1]),
        (total[0] / of[0], total[1] / of[1]),
        (own[0] / of[0], own[1] / of[1]),
    )


def _depth(merged: CallTree, name: str) -> int:
    """Return how far below the root a function lies where it lies highest: callers come before what they call."""
    node = int(np.argmax(merged.name[1:] == merged.by_name[name])) + 1
    return int(np.searchsorted(merged.levels, node, side="right"))


def says(merged: CallTree, *, before: int = 0, after: int = 1) -> str:
    """Say what moved most: *`apply_async` 27.9 % → 2.9 %*; its callers moved along, so the most particular is named.

    What moved the other way is named too where it moved at least half as far. Of two programs it says that first.
    """
    if empty := pair_guards.empty(merged, before=before, after=after):
        return empty
    unlike = pair_guards.unlike(merged, before=before, after=after)
    return f"{unlike} {_says(merged, before, after)}".lstrip()


def _says(merged: CallTree, before: int, after: int) -> str:
    found = moved(merged, before=before, after=after)
    own = [one for one in found if not sentence.is_plumbing(merged, merged.by_name[one.name])] or found
    if not own:
        return "No function's share changed by half a percentage point or more."
    back = [
        one for one in own if one.points * own[0].points < 0 and abs(one.points) >= HALF_AS_FAR * abs(own[0].points)
    ]
    best = [_particular(merged, some) for some in (own, back) if some]
    return "; ".join(f"`{one.name}` {percent(one.share[0])} → {percent(one.share[1])}" for one in best)


def _particular(merged: CallTree, some: Sequence[Moved]) -> Moved:
    """Return the most particular of those that moved about as far as the first, and the same way."""
    first = some[0]
    near = [one for one in some if abs(one.points) >= AS_MUCH * abs(first.points) and one.points * first.points > 0]
    return min(near[:NEAR], key=lambda one: (round(max(one.share), 3), -_depth(merged, one.name), one.name))

"""Two or more profiles of the same unit as one tree, and what moved between them. Pure: numpy alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evidence.analysis import pair_guards, plumbing
from evidence.analysis.scales import SHARES, ComparisonScale
from evidence.profile import fractions, same_functions
from evidence.profile.source_functions import SourceFunction
from evidence.profile.stacks import Ints, SampleType
from evidence.tree import tree_merging
from evidence.tree.calltree import CallTree
from evidence.tree.tree_levels import first_of

MOVED = 0.005  # of everything: half a percentage point, or half a per cent of the larger total
NEAR = 50  # this many of those are looked at
AS_MUCH = 0.85  # of the largest move; the most specific function that moved this much is named
HALF_AS_FAR = 0.5  # of the largest move; what moved this far in the other direction is also named


class NotComparable(ValueError):
    """These profiles do not count the same thing; the message says what each one counts."""


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
        """How many percentage points its share changed by; negative if it fell."""
        return 100 * (self.share[1] - self.share[0])

    @property
    def grew(self) -> int:
        """How much its total changed, in the unit counted; negative if it fell."""
        return self.total[1] - self.total[0]

    def by(self, scale: ComparisonScale) -> float:
        """How much it changed on this scale, for comparing functions with each other."""
        return self.grew if scale.absolute else self.points

    @property
    def is_new(self) -> bool:
        """Whether it is only on the second side."""
        return not self.total[0] and self.total[1] > 0

    @property
    def is_gone(self) -> bool:
        """Whether it is only on the first side."""
        return not self.total[1] and self.total[0] > 0


def same_type(trees: Sequence[CallTree], type: str = "") -> list[int]:
    """Return the index of the sample type to compare in each tree: ``type``, by name or name/unit, or the default.

    The default is the first tree's or, if not all trees have that, the first of its types that all have, so that the
    order of the trees does not matter. Names and units must be equal, except for fractions. Raises ``NotComparable``.
    """
    each = [[_whole(one) for one in tree.sample_types] for tree in trees]
    own = each[0][trees[0].default_type]
    shared = [one for one in (own, *each[0]) if all(one in kinds for kinds in each)]
    named = (one for one in each[0] if type in {one.name, f"{one.name}/{one.unit}"})
    wanted = next(named, shared[0] if shared else own)
    for kinds in each:
        if wanted not in kinds:
            has = ", ".join(f"{one.name} in {one.unit}" for one in kinds)
            counts = f"one counts {wanted.name} in {wanted.unit}, the other has {has}"
            raise NotComparable(f"These can't be compared: {counts}.")
    return [kinds.index(wanted) for kinds in each]


def choices(trees: Sequence[CallTree]) -> list[tuple[int, str]]:
    """Return the sample types that all trees have: the first tree's index of each, and the name for ``same_type``."""
    first, *rest = [[_whole(one) for one in tree.sample_types] for tree in trees]
    names = [one.name for one in first]
    shared = [(place, one) for place, one in enumerate(first) if all(one in kinds for kinds in rest)]
    return [(at, one.name if names.count(one.name) == 1 else f"{one.name}/{one.unit}") for at, one in shared]


def _whole(kind: SampleType) -> SampleType:
    """Return the sample type without its fraction."""
    return replace(kind, unit=fractions.whole(kind.unit)[1])


def merge(trees: Sequence[CallTree], *, types: Sequence[int], labels: Sequence[str]) -> CallTree:
    """Return one tree with a sample type per given tree, named by its label; it contains every node of each."""
    shown = same_functions.renamed(trees)
    names = sorted(set().union(*shown))
    code_of = {name: code for code, name in enumerate(names)}
    codes = [np.array([code_of[name] for name in side], dtype=np.int32) for side in shown]
    pairs = list(zip(trees, types, strict=True))
    unit, times = fractions.finest([tree.sample_types[type].unit for tree, type in pairs])
    sides = [
        tree_merging.MergedSide(tree.name, tree.parent, tree.levels, _times(tree, type, factor), code)
        for (tree, type), code, factor in zip(pairs, codes, times, strict=True)
    ]
    nodes = tree_merging.merged(sides, names=len(names))
    self_ = np.zeros((len(trees), len(names)), dtype=np.int64)
    function_totals = np.zeros_like(self_)
    for row, (code, (tree, type), factor) in enumerate(zip(codes, pairs, times, strict=True)):
        self_[row, code] = tree.self_[type] * factor
        function_totals[row, code] = tree.function_totals[type] * factor
    return CallTree(
        names=names, hints=_hints(trees, shown, code_of), name=nodes.name, parent=nodes.parent,
        first=first_of(nodes.parent), levels=nodes.levels, totals=nodes.totals, self_=self_,
        function_totals=function_totals, sample_types=tuple(SampleType(label, unit) for label in labels),
        format=trees[0].format, places=_places(trees, shown),
    )  # fmt: skip


def _places(trees: Sequence[CallTree], shown: Sequence[Sequence[str]]) -> dict[str, SourceFunction]:
    """Return the source place of each name, as given by the first side that knows it."""
    found: dict[str, SourceFunction] = {}
    for tree, side in zip(reversed(trees), reversed(shown), strict=True):
        known = tree.places
        found |= {new: known[old] for new, old in zip(side, tree.names, strict=True) if old in known}
    return found


def _times(tree: CallTree, type: int, factor: int) -> NDArray[np.integer[Any]]:
    """Return the nodes' counts in another fraction. Raises ``NotComparable`` if they do not fit."""
    if factor == 1:
        same: NDArray[np.integer[Any]] = tree.totals[type]
        return same
    if tree.total(type) * factor >= 1 << 63:
        raise NotComparable("These can't be compared: one has too many decimals for what the other counts.")
    more: NDArray[np.integer[Any]] = tree.totals[type].astype(np.int64) * factor
    return more


def _hints(trees: Sequence[CallTree], shown: Sequence[Sequence[str]], code_of: dict[str, int]) -> list[str]:
    hints = [""] * len(code_of)
    for tree, side in zip(trees, shown, strict=True):
        for name, hint in zip(side, tree.hints, strict=True):
            hints[code_of[name]] = hints[code_of[name]] or hint
    return hints


def moved(
    merged: CallTree,
    *,
    before: int = 0,
    after: int = 1,
    least: float = MOVED,
    scale: ComparisonScale = SHARES,
    own: bool = False,
) -> list[Moved]:
    """Return the functions that changed by at least ``least`` of everything, the largest change first.

    ``before`` and ``after`` are sample types of a merged tree. ``scale`` says what a change is measured in: shares, or
    amounts, for which ``least`` is a part of the larger total. Functions on only one side count as well, and with
    ``own`` also those of which only self changed; then the changes of self add up to that of the totals.
    """
    sides = (before, after)
    of = [max(merged.total(side), 1) for side in sides]
    change, self_change = (_change(values, sides, scale, of) for values in (merged.function_totals, merged.self_))
    most = np.maximum(change, self_change) if own else change
    enough = least * (max(of) if scale.absolute else 1)
    order = np.lexsort((-self_change, -change)) if own else np.argsort(-change, kind="stable")
    return [_moved(merged, code, sides, of) for code in order.tolist() if most[code] >= enough and most[code] > 0]


def _change(values: Ints, sides: tuple[int, int], scale: ComparisonScale, of: Sequence[int]) -> NDArray[Any]:
    """Return each function's change: exact in the unit counted, or in shares."""
    before, after = (values[side] for side in sides)
    change: NDArray[Any] = np.abs(after - before if scale.absolute else after / of[1] - before / of[0])
    return change


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
    """Return how far below the root a function first appears, so that callers come before what they call."""
    node = int(np.argmax(merged.name[1:] == merged.by_name[name])) + 1
    return int(np.searchsorted(merged.levels, node, side="right"))


def says(merged: CallTree, *, before: int = 0, after: int = 1, scale: ComparisonScale = SHARES) -> str:
    """Say what moved most: *`apply_async` 27.9 % → 2.90 %*. Its callers moved along, so the most specific one is named.

    What moved the other way is named too if it moved at least half as far. For two different programs it says that
    first. The table of the same scale shows each of these numbers.
    """
    if empty := pair_guards.empty(merged, before=before, after=after):
        return empty
    unlike = pair_guards.unlike(merged, before=before, after=after)
    return f"{unlike} {_says(merged, before, after, scale)}".lstrip()


def _says(merged: CallTree, before: int, after: int, scale: ComparisonScale) -> str:
    totals = merged.total(before), merged.total(after)
    found = moved(merged, before=before, after=after, scale=scale)
    own = [one for one in found if not plumbing.is_plumbing(merged, merged.by_name[one.name])] or found
    if not own:
        if scale.absolute:
            return f"No function changed by {scale.least(MOVED)} or more."
        return f"No function's share changed by {scale.least(MOVED)} or more."
    first = own[0].by(scale)
    back = [one for one in own if one.by(scale) * first < 0 and abs(one.by(scale)) >= HALF_AS_FAR * abs(first)]
    best = [_particular(merged, some, scale, max(totals)) for some in (own, back) if some]
    each = (zip(one.total, totals, strict=True) for one in best)
    sides = [" → ".join(scale.side(value, total) for value, total in pair) for pair in each]
    return "; ".join(f"`{one.name}` {said}" for one, said in zip(best, sides, strict=True))


def _particular(merged: CallTree, some: Sequence[Moved], scale: ComparisonScale, whole: int) -> Moved:
    """Return the most specific of those that moved about as far as the first, in the same direction."""
    first = some[0].by(scale)
    near = [one for one in some if abs(one.by(scale)) >= AS_MUCH * abs(first) and one.by(scale) * first > 0]

    def size(one: Moved) -> float:
        return max(one.total) / whole if scale.absolute else max(one.share)

    return min(near[:NEAR], key=lambda one: (round(size(one), 3), -_depth(merged, one.name), one.name))

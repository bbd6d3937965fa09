"""Guards for comparisons: two different programs, or a side that misleads by itself. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from evidence.analysis import guards, plumbing
from evidence.profile import amounts
from evidence.profile.stacks import Ints
from evidence.tree.calltree import CallTree

HARDLY = 0.1  # of the heaviest function on either side: the minimum for the heaviest function that both have
LONGER = 1.1  # one recording lasted at least this many times as long as the other
TIMES = 1.5  # one total is at least this many times the other: shares hide the growth, amounts mislead


def unlike(merged: CallTree, *, before: int = 0, after: int = 1) -> str:
    """Say that two sides of a merged tree have too little in common to compare; empty if they have enough.

    What programs are built on, such as a runtime, does not count unless one side has nothing else.
    """
    sides = [merged.function_totals[side] for side in (before, after)]
    if not all(side.any() for side in sides):
        return ""
    own = [_heaviest(merged, side) for side in sides]
    shared_codes = (sides[0] > 0) & (sides[1] > 0)
    if all(own):
        shared = [_heaviest(merged, np.where(shared_codes, side, 0)) for side in sides]
    else:
        own, shared = ([int(side.max(where=among, initial=0)) for side in sides] for among in (True, shared_codes))
    if any(part >= HARDLY * most for part, most in zip(shared, own, strict=True)):
        return ""
    how_many = "hardly any" if shared_codes.any() else "no"
    return f"These profiles share {how_many} functions; they are probably of different programs."


def empty(merged: CallTree, *, before: int = 0, after: int = 1) -> str:
    """Say that a side has nothing to compare, which does not mean that it was fixed; empty if both have something."""
    bare = [word for word, side in (("before", before), ("after", after)) if not merged.total(side)]
    if not bare:
        return ""
    return f"Nothing to compare: {'both profiles are' if len(bare) > 1 else f'the profile {bare[0]} is'} empty."


def totals(merged: CallTree, *, before: int = 0, after: int = 1, absolute: bool = False) -> Iterator[str]:
    """Warn if the totals differ so much that shares alone mislead, or that amounts do."""
    each = [merged.total(side) for side in (before, after)]
    low, high = sorted(each)
    if not low or high < TIMES * low:
        return
    said = [amounts.amount(total, merged.sample_types[before].unit) for total in each]
    if not absolute:
        yield f"The totals differ: {said[0]} before, {said[1]} after. Each share is of its own side's total."
        return
    larger, smaller = ("After", "before") if each[1] > each[0] else ("Before", "after")
    yield (
        f"{larger} counts {_times(high / low)} times as much as {smaller}: {said[0]} before, {said[1]} after. "
        "A longer run or more requests would do that too: unless both did the same work, compare shares."
    )


def recorded(before: CallTree, after: CallTree, *, types: tuple[int, int]) -> Iterator[str]:
    """Warn that amounts were recorded for longer on one side, or that a sample stands for more there."""
    each = [int(tree.about.get("duration_ns") or 0) for tree in (before, after)]
    if min(each) > 0 and max(each) >= LONGER * min(each):
        said = [amounts.amount(one, "nanoseconds") for one in each]
        yield (
            f"Before was recorded for {said[0]}, after for {said[1]}: amounts are of all that time. "
            "Compare shares, unless both did the same work."
        )
    periods = [tree.about.get("period") or {} for tree in (before, after)]
    counted = {tree.sample_types[type].unit for tree, type in zip((before, after), types, strict=True)}
    if counted == {"samples"} and all(periods) and periods[0] != periods[1]:
        said = [amounts.amount(int(one["value"]), str(one["unit"])) for one in periods]
        yield f"A sample stands for {said[0]} before and for {said[1]} after: counts of them can't be compared."


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 9.95 else f"{ratio:.1f}".removesuffix(".0")


def of_sides(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    """Yield the warnings of each side, and those of both once; a comparison must hide none of them."""
    for one in dict.fromkeys([*before, *after]):
        whose = "Both" if one in before and one in after else "Before" if one in before else "After"
        yield f"{whose}: {one.removesuffix(guards.HIDE)}"


def _heaviest(merged: CallTree, totals: Ints) -> int:
    """Return the total of the application's heaviest function, or 0 if it has none."""
    for code in np.argsort(-totals, kind="stable").tolist():
        if not totals[code]:
            return 0
        if not plumbing.is_everywhere(merged.names[code]) and not plumbing.is_plumbing(merged, code):
            return int(totals[code])
    return 0

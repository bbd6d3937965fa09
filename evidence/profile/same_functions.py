"""Which functions of several profiles are the same, though each profile names its own by itself. Pure.

A profile says ``run`` while it has met one function of that name, and ``run (shop/cart.py)`` once it has met two. So
names are not what two profiles are compared by: functions are the same by name, file and place in it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain, groupby
from typing import Protocol, TypeVar

from evidence.profile.source_functions import NAMELESS, SourceFunction, distinct, parts_of

Thing = TypeVar("Thing")
Known = dict[str, list[SourceFunction]]
# What changes in a path from one release to the next: versions, dates, hashes of content.
_CHANGES = re.compile(r"[0-9a-f]{6,}|\d+", re.IGNORECASE)
# How much of the end of two paths is alike where a folder was moved, from the surest.
ALIKE = (3, 2, 1)
MOST = 60  # functions without a name that are looked at between two with one


class PlacedNames(Protocol):
    """A profile as far as its names go: all of them, and the functions that some of them stand for."""

    @property
    def names(self) -> Sequence[str]:
        """Every name, each once."""

    @property
    def places(self) -> Mapping[str, SourceFunction]:
        """What names stand for, where that is known."""


def renamed(profiles: Sequence[PlacedNames]) -> list[list[str]]:
    """Return for each profile its names as they are among the functions of all profiles together, each still once.

    Names that stand for no known function stay as they are.
    """
    together = _together([profile.places for profile in profiles])
    found = [[new.get(name, name) for name in one.names] for one, new in zip(profiles, together, strict=True)]
    return [
        names if len(set(names)) == len(names) else list(one.names) for names, one in zip(found, profiles, strict=True)
    ]


def _together(sides: Sequence[Mapping[str, SourceFunction]]) -> list[dict[str, str]]:
    """Return for each side what each name that stands for a function is among all sides."""
    known: Known = defaultdict(list)
    files: set[str] = set()
    same: list[dict[str, SourceFunction]] = []
    for side in sides:
        mine: Known = defaultdict(list)
        for place in side.values():
            mine[place.name].append(place)
        there = {place.file for place in side.values()}
        found = _found(mine, known, unmoved=there & files)
        for place in side.values():
            if place not in found:
                known[place.name].append(place)
        files |= there
        same.append({shown: found.get(place, place) for shown, place in side.items()})
    names = distinct(chain.from_iterable(known.values()))
    return [{shown: names[place] for shown, place in side.items()} for side in same]


def _found(mine: Known, known: Known, *, unmoved: Collection[str]) -> dict[SourceFunction, SourceFunction]:
    """Return which known function each of a side's is, where it is one; those without a name last."""
    found: dict[SourceFunction, SourceFunction] = {}
    for name in mine.keys() - {NAMELESS}:
        for here, there in _side_by_side(mine[name], known[name], unmoved=unmoved):
            found |= _in_file(here, there)
    around: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for one, other in found.items():
        around[one.file].append((one.line, one.line - other.line))
    for here, there in _side_by_side(mine.get(NAMELESS, []), known.get(NAMELESS, []), unmoved=unmoved):
        found |= _moved_along(here, there, sorted(around[here[0].file]))
    return found


def _side_by_side(
    mine: list[SourceFunction], known: list[SourceFunction], *, unmoved: Collection[str]
) -> Iterator[tuple[list[SourceFunction], list[SourceFunction]]]:
    """Yield the functions of each file on both sides."""
    here, there = (_by(some, lambda one: one.file) for some in (mine, known))
    for file, other in _files(here.keys(), there.keys(), unmoved=unmoved).items():
        yield here[file], there[other]


def _files(mine: AbstractSet[str], known: AbstractSet[str], *, unmoved: Collection[str]) -> dict[str, str]:
    """Return which file is which: by its path, else by the end of it, of those that are on one side alone."""
    files = {file: file for file in mine & known}
    taken = {*files, *unmoved}
    for parts in ALIKE if len(files) < min(len(mine), len(known)) else ():
        here, there = (_by(some, lambda file: _end(file, parts)) for some in (mine, known))  # noqa: B023
        for end in here.keys() & there.keys():
            pair = (*here[end], *there[end])
            if len(here[end]) == len(there[end]) == 1 and not taken & set(pair):
                files[pair[0]] = pair[1]
                taken |= set(pair)
    return files


def _by(some: Iterable[Thing], key: Callable[[Thing], str]) -> dict[str, list[Thing]]:
    found: dict[str, list[Thing]] = defaultdict(list)
    for one in some:
        found[key(one)].append(one)
    return found


def _end(file: str, parts: int) -> str:
    """Return the end of a path, without what releases change in it."""
    return _CHANGES.sub("", "/".join(parts_of(file)[-parts:]))


def _in_file(mine: list[SourceFunction], known: list[SourceFunction]) -> dict[SourceFunction, SourceFunction]:
    """Return which function of a file is which: those at the same place, or all in their order, as edits move them.

    Their order says so where there are as many, and it does not contradict those that stayed.
    """
    at = {_place(one): one for one in known}
    stayed = {one: at[_place(one)] for one in mine if _place(one) in at}
    if len(mine) != len(known):
        return stayed
    in_order = dict(zip(sorted(mine, key=_place), sorted(known, key=_place), strict=True))
    return in_order if all(in_order[one] == other for one, other in stayed.items()) else stayed


def _moved_along(
    mine: list[SourceFunction], known: list[SourceFunction], around: Sequence[tuple[int, int]]
) -> dict[SourceFunction, SourceFunction]:
    """Return which function without a name is which: it moved by as many lines as one beside it that has a name.

    ``around`` has the lines of those, and by how many each moved. Where the one above and the one below moved by
    unlike many, something was added or taken away in between: where most are found again.
    """
    at = {_place(one): one for one in known}
    begins = [begin for begin, _ in around]
    found: dict[SourceFunction, SourceFunction] = {}
    for below, some in groupby(sorted(mine, key=_place), key=lambda one: bisect_right(begins, one.line)):
        group = list(some)
        by_above = around[below - 1][1] if below else 0
        by_below = around[below][1] if below < len(around) else by_above
        upper, lower = ([at.get((one.line - by, one.column)) for one in group] for by in (by_above, by_below))
        cuts = range(len(group) + 1) if by_above != by_below and len(group) <= MOST else [0]
        best = max(([*upper[:cut], *lower[cut:]] for cut in cuts), key=lambda chosen: len(set(chosen) - {None}))
        times = Counter(best)
        found |= {one: other for one, other in zip(group, best, strict=True) if other and times[other] == 1}
    return found


def _place(one: SourceFunction) -> tuple[int, int]:
    return one.line, one.column

"""Match the functions of several profiles, although each profile names its own independently. Pure.

A profile says ``run`` if it has just one function with that name, and ``run (shop/cart.py)`` if it has two. So profiles
are not compared by names: functions are the same by name, file and place in it.
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
# The parts of a path that change between releases: versions, dates, content hashes.
_CHANGES = re.compile(r"[0-9a-f]{6,}|\d+", re.IGNORECASE)
# How many parts at the end of two paths must match after a folder was moved, surest first.
ALIKE = (3, 2, 1)
MOST = 60  # functions without a name that are considered between two with one


class PlacedNames(Protocol):
    """The names of a profile, and the functions that some of them stand for."""

    @property
    def names(self) -> Sequence[str]:
        """Every name, each once."""

    @property
    def places(self) -> Mapping[str, SourceFunction]:
        """What names stand for, if known."""


def renamed(profiles: Sequence[PlacedNames]) -> list[list[str]]:
    """Return each profile's names as they are among all the profiles' functions together, each still unique.

    Names that stand for no known function are unchanged.
    """
    together = _together([profile.places for profile in profiles])
    found = [[new.get(name, name) for name in one.names] for one, new in zip(profiles, together, strict=True)]
    return [
        names if len(set(names)) == len(names) else list(one.names) for names, one in zip(found, profiles, strict=True)
    ]


def _together(sides: Sequence[Mapping[str, SourceFunction]]) -> list[dict[str, str]]:
    """Return for each side the function among all sides that each of its names stands for."""
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
    """Return the matching known function of each of a side's functions, if any; those without a name last."""
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
    """Return which file matches which: by path, else by the end of the path, for files on only one side."""
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
    """Return which function of a file matches which: those at the same place, or all in order, as edits move them.

    Their order decides if there are equally many, and it does not contradict those that stayed.
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
    """Return which unnamed function matches which: it moved by as many lines as a named one near it.

    ``around`` has the lines of those, and by how many each moved. If the one above and the one below moved by different
    amounts, something was added or removed in between: the amount that matches most functions is used.
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

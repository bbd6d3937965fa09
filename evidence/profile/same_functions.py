"""Which functions of several profiles are the same, though each profile names its own by itself. Pure.

A profile says ``run`` while it has met one function of that name, and ``run (shop/cart.py)`` once it has met two. So
names are not what two profiles are compared by: functions are the same by name, file and place in it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain
from typing import Protocol

from evidence.profile.source_functions import NAMELESS, SourceFunction, distinct, parts_of

Known = dict[str, list[SourceFunction]]
# What changes in a path from one release to the next: versions, dates, hashes of content.
_CHANGES = re.compile(r"[0-9a-f]{6,}|\d+", re.IGNORECASE)
# How much of the end of two paths is alike where a folder was moved, from the surest.
ALIKE = (3, 2, 1)


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
    """Return which known function each of a side's is, where it is one."""
    found: dict[SourceFunction, SourceFunction] = {}
    for name, some in mine.items():
        files = _files({one.file for one in some}, {one.file for one in known[name]}, unmoved=unmoved)
        for file, other in files.items():
            here, there = ([one for one in of if one.file == at] for of, at in ((some, file), (known[name], other)))
            found |= _in_file(here, there)
    return found


def _files(mine: set[str], known: set[str], *, unmoved: Collection[str]) -> dict[str, str]:
    """Return which file is which: by its path, else by the end of it, of those that are on one side alone."""
    files = {file: file for file in mine & known}
    for parts in ALIKE:
        here, there = (_by_end(some, parts) for some in (mine, known))
        for end in here.keys() & there.keys():
            if len(here[end]) == len(there[end]) == 1:
                one, other = here[end][0], there[end][0]
                if not {one, other} & {*files, *files.values(), *unmoved}:
                    files[one] = other
    return files


def _by_end(files: Collection[str], parts: int) -> dict[str, list[str]]:
    ends: dict[str, list[str]] = defaultdict(list)
    for file in files:
        ends[_CHANGES.sub("", "/".join(parts_of(file)[-parts:]))].append(file)
    return ends


def _in_file(mine: list[SourceFunction], known: list[SourceFunction]) -> dict[SourceFunction, SourceFunction]:
    """Return which function of a file is which: those at the same place, or all in their order, as edits move them.

    Their order says so where there are as many, and it does not contradict those that stayed.
    """
    place: Callable[[SourceFunction], tuple[int, int]] = lambda one: (one.line, one.column)  # noqa: E731
    at = {place(one): one for one in known}
    stayed = {one: at[place(one)] for one in mine if place(one) in at}
    if len(mine) != len(known) or mine[0].name == NAMELESS:
        return stayed
    in_order = dict(zip(sorted(mine, key=place), sorted(known, key=place), strict=True))
    return in_order if all(in_order[one] == other for one, other in stayed.items()) else stayed

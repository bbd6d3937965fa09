"""Functions with a file and a line, named so that no two are confused. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from typing import NamedTuple

ANONYMOUS = {"", "(anonymous)", "<anonymous>", "(anonymous function)", "anonymous"}
NAMELESS = "(anonymous)"
# Parts at the end of a path: this many distinguish most files and leave room for the name; more are rarely needed.
PARTS, MOST_PARTS = 3, 12


class SourceFunction(NamedTuple):
    """A function as a profiler describes it; ``line`` and ``column`` count from 1, 0 if unknown."""

    name: str
    file: str = ""
    line: int = 0
    column: int = 0


def identity(place: SourceFunction, *, begins: bool = False) -> SourceFunction:
    """Return the identity of the function at a place.

    If lines are where functions begin (``begins``), two in one file are two functions; otherwise they are those of the
    executing code, and only distinguish functions without a name.
    """
    if place.name in ANONYMOUS:
        return place._replace(name=NAMELESS)
    return place if begins else place._replace(line=0, column=0)


def distinct(places: Iterable[SourceFunction]) -> dict[SourceFunction, str]:
    """Give each function a name: the bare one if it is unambiguous, else with its file, line and column.

    ``places`` are identities. Those without a name always have a file and a line.
    """
    named: dict[str, set[SourceFunction]] = defaultdict(set)
    for place in places:
        named[place.name].add(place)
    return {place: shown for some in named.values() for place, shown in _shown(some).items()}


def _shown(some: Collection[SourceFunction]) -> dict[SourceFunction, str]:
    """Name functions that share a name."""
    short = _short({one.file for one in some if one.file})
    in_file = Counter(one.file for one in some)
    in_line = Counter((one.file, one.line) for one in some)
    shown = {}
    for one in some:
        nameless = one.name == NAMELESS
        at = short.get(one.file, "")
        if one.line and (nameless or in_file[one.file] > 1):
            column = f":{one.column}" if in_line[one.file, one.line] > 1 and one.column else ""
            at = f"{at}:{one.line}{column}"
        bare = not one.file or (len(some) == 1 and not nameless)
        shown[one] = one.name if bare else f"{one.name} ({at})"
    return shown


def _short(files: Collection[str]) -> dict[str, str]:
    """Return enough of the end of each path or URL to distinguish it from the others, at least its last three parts."""
    for parts in range(PARTS, MOST_PARTS):
        short = {file: "/".join(parts_of(file)[-parts:]) or file for file in files}
        if len(set(short.values())) == len(files):
            return short
    return {file: file for file in files}


def parts_of(file: str) -> list[str]:
    """Return the folders and the name of a file, without query, fragment or scheme."""
    bare = file.split("?", 1)[0].split("#", 1)[0]
    return [part for part in bare.split("/") if part and not part.endswith(":")]

"""Names for functions that come with a file and a line: the bare name while it is clear which one is meant. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

ANONYMOUS = {"", "(anonymous)", "<anonymous>", "(anonymous function)", "anonymous"}


class SourceFunction(NamedTuple):
    """A function as a profiler describes it; ``line`` counts from 1, 0 when it is not known."""

    name: str
    file: str = ""
    line: int = 0


def distinct(places: Iterable[SourceFunction]) -> dict[SourceFunction, str]:
    """Give each function a name.

    Functions of one name in several files are told apart by their file, and those without a name by file and line,
    so that ``__init__`` of two modules are not one function.
    """
    places = set(places)
    files: dict[str, set[str]] = defaultdict(set)
    for place in places:
        files[place.name].add(place.file)
    return {place: _shown(place, apart=len(files[place.name]) > 1) for place in places}


def _shown(place: SourceFunction, *, apart: bool) -> str:
    if place.name in ANONYMOUS:
        at = f"{_short(place.file)}:{place.line}" if place.line else _short(place.file)
        return f"(anonymous) ({at})" if place.file else "(anonymous)"
    return f"{place.name} ({_short(place.file)})" if apart and place.file else place.name


def _short(file: str) -> str:
    """Return the last three parts of a path or URL, which tell files apart and leave room for the name."""
    bare = file.split("?", 1)[0].split("#", 1)[0]
    parts = [part for part in bare.split("/") if part and not part.endswith(":")]
    return "/".join(parts[-3:]) or bare

"""What a figure is: a question, the rows that answer it, and how they are drawn."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Final, NamedTuple, TypeVar

from insights.figures.history import IncidentHistory

TIMES, COUNTS, FLOW, MATRIX = "times", "counts", "flow", "matrix"
ALL: Final = "all"
JOIN: Final = "_"  # joins the parts of a row's key; no type's slug contains one


@dataclass(frozen=True, slots=True)
class TypeLook:
    """How a type is shown: its name and colour."""

    slug: str
    name: str
    colour: str = "slate"


Key = TypeVar("Key", bound=Hashable)
Types = Mapping[str, TypeLook]


class CountedThing(NamedTuple):
    """One thing that a row counts: its incident, its time in seconds, and whether it is in the marked part."""

    history: IncidentHistory
    seconds: float | None = None
    marked: bool = False


@dataclass(frozen=True)
class FigureRow:
    """A row of a chart, and of its table. ``key`` is in the address of the page with what the row counts."""

    key: str
    label: str
    counted: tuple[CountedThing, ...]
    colour: str = "slate"

    @cached_property
    def timed(self) -> list[CountedThing]:
        """The counted things that have a time, shortest first."""
        return sorted((one for one in self.counted if one.seconds is not None), key=attrgetter("seconds"))

    @cached_property
    def times(self) -> list[float]:
        """The times of the counted things, shortest first."""
        return [one.seconds for one in self.timed if one.seconds is not None]

    @cached_property
    def marked(self) -> int:
        """How many are in the marked part."""
        return sum([one.marked for one in self.counted])


Work = Callable[[Sequence[IncidentHistory], Types], list[FigureRow]]


@dataclass(frozen=True, slots=True)
class InsightFigure:
    """One figure: its name in addresses, its title, how it is counted, and what it reads of each incident.

    ``unit`` is what it counts, in the plural; ``part`` names the marked part of a count.
    """

    slug: str
    title: str
    says: str
    shape: str
    rows: Work
    needs: tuple[str, ...] = ()
    unit: str = "incidents"
    part: str = ""


def by_type(found: Iterable[tuple[str, CountedThing]], types: Types, *, whole: str = "") -> list[FigureRow]:
    """Return a row for each type that has anything, in the order of the types.

    With ``whole``, the first row is all of them together, under that name.
    """
    filed = grouped(found)
    rows = [row_of(slug, filed[slug], types) for slug in in_order(filed, types)]
    if whole and len(rows) > 1:
        every = tuple(one for row in rows for one in row.counted)
        return [FigureRow(ALL, whole, every), *rows]
    return rows


def row_of(slug: str, counted: Iterable[CountedThing], types: Types) -> FigureRow:
    """Return the row of one type."""
    look = types.get(slug) or TypeLook(slug, slug)
    return FigureRow(slug, look.name, tuple(counted), look.colour)


def in_order(slugs: Iterable[str], types: Types) -> list[str]:
    """Return slugs in the order of the types; slugs without a type come last."""
    order = {slug: place for place, slug in enumerate(types)}
    return sorted(slugs, key=lambda slug: (order.get(slug, len(order)), slug))


def name_of(slug: str, types: Types) -> str:
    """Return the name of a type."""
    return types[slug].name if slug in types else slug


def key_of(name: str) -> str:
    """Return the key of a row that has only a name, so that its address stays valid when the rows' order changes."""
    return hashlib.sha256(name.encode()).hexdigest()[:16]


def grouped(found: Iterable[tuple[Key, CountedThing]]) -> dict[Key, list[CountedThing]]:
    """Group things by key."""
    filed: dict[Key, list[CountedThing]] = defaultdict(list)
    for key, one in found:
        filed[key].append(one)
    return filed

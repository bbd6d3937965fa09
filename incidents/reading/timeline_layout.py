"""How a timeline is laid out for reading: newest first, by day, with related entries on one line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from functools import cache

from django.template import TemplateDoesNotExist
from django.template.loader import get_template
from django.utils import timezone

from incidents.timeline import TimelineEntry

RUN = 3  # entries of one minute share a line from this many on


@dataclass(slots=True)
class Item:
    """One entry to read, or several folded into a line: quiet ones, or a run within one minute."""

    entries: list[TimelineEntry]
    quiet: bool
    folds: bool = False

    @property
    def folded(self) -> bool:
        """Whether this stands for several entries."""
        return len(self.entries) > 1

    @property
    def first(self) -> TimelineEntry:
        """The newest of its entries."""
        return self.entries[0]

    @property
    def tells(self) -> TimelineEntry:
        """The entry that its line shows: the newest one that is not quiet, if there is one."""
        return next((entry for entry in self.entries if not entry.kind.quiet), self.first)

    @property
    def last(self) -> TimelineEntry:
        """The oldest of its entries, which stays the same when new ones are folded in."""
        return self.entries[-1]

    def takes(self, other: Item) -> bool:
        """Whether the next entry belongs here: both are quiet, or both fold and are from the same minute."""
        if self.quiet and other.quiet:
            return True
        return self.folds and other.folds and _minute(self.first) == _minute(self.last) == _minute(other.first)

    def split(self) -> Iterator[Item]:
        """Yield it whole, or entry by entry if it is a run too short to fold."""
        if self.quiet or len(self.entries) >= RUN:
            yield self
        else:
            yield from (_alone(entry) for entry in self.entries)


@dataclass(slots=True)
class Day:
    """A day in the viewer's zone and what happened on it, newest first."""

    on: date
    items: list[Item] = field(default_factory=list)


def days(newest_first: Iterable[TimelineEntry]) -> list[Day]:
    """Lay entries out by day; quiet neighbours share one line, and so do runs within one minute."""
    told: list[Day] = []
    for entry in newest_first:
        on = timezone.localtime(entry.event.at).date()
        if not told or told[-1].on != on:
            told.append(Day(on))
        items, item = told[-1].items, _alone(entry)
        if items and items[-1].takes(item):
            items[-1].entries.append(entry)
            items[-1].quiet = items[-1].quiet and item.quiet
        else:
            items.append(item)
    for day in told:
        day.items = [piece for item in day.items for piece in item.split()]
    return told


def _alone(entry: TimelineEntry) -> Item:
    quiet = entry.kind.quiet and entry.stands
    return Item([entry], quiet, quiet or (entry.kind.folds and entry.stands))


def _minute(entry: TimelineEntry) -> str:
    return f"{entry.event.at:%Y-%m-%d %H:%M}"


@cache
def template_of(kind: str) -> str:
    """Return the template of an event's kind; the common one if it has none of its own."""
    own = f"incidents/events/_{kind}.html"
    try:
        get_template(own)
    except TemplateDoesNotExist:
        return "incidents/events/_event.html"
    return own

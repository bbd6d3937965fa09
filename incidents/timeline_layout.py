"""How a timeline is laid out for reading: newest first, by day, with what the machine did in small print."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from functools import cache

from django.template import TemplateDoesNotExist
from django.template.loader import get_template
from django.utils import timezone

from incidents.timeline import TimelineEntry


@dataclass(slots=True)
class Item:
    """One entry to read, or several quiet ones folded into a line."""

    entries: list[TimelineEntry]
    quiet: bool

    @property
    def folded(self) -> bool:
        """Whether this stands for several entries."""
        return len(self.entries) > 1

    @property
    def first(self) -> TimelineEntry:
        """The newest of its entries."""
        return self.entries[0]

    @property
    def last(self) -> TimelineEntry:
        """The oldest of its entries, which stays when new ones are folded in."""
        return self.entries[-1]


@dataclass(slots=True)
class Day:
    """A day in the viewer's zone and what happened on it, newest first."""

    on: date
    items: list[Item] = field(default_factory=list)


def days(newest_first: Iterable[TimelineEntry]) -> list[Day]:
    """Lay entries out by day; neighbours that are quiet share one line."""
    told: list[Day] = []
    for entry in newest_first:
        on = timezone.localtime(entry.event.at).date()
        if not told or told[-1].on != on:
            told.append(Day(on))
        items = told[-1].items
        quiet = entry.kind.quiet and entry.stands
        if quiet and items and items[-1].quiet:
            items[-1].entries.append(entry)
        else:
            items.append(Item([entry], quiet))
    return told


@cache
def template_of(kind: str) -> str:
    """Return the template of an event's kind; one that has none of its own takes the common one."""
    own = f"incidents/events/_{kind}.html"
    try:
        get_template(own)
    except TemplateDoesNotExist:
        return "incidents/events/_event.html"
    return own

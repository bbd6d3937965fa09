"""Figures about interruptions: people brought in by name, by day and by night, and pages, without who answered."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, time, tzinfo
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from insights.figures.figure import (
    COUNTS,
    TIMES,
    CountedThing,
    FigureRow,
    InsightFigure,
    Types,
    by_type,
    grouped,
    key_of,
)
from insights.figures.history import AskedPage, IncidentHistory

A_PERSON = "One person, by name"  # figures never name anyone
UNKNOWN: Final = "no_zone"
NIGHT_BEGINS, NIGHT_ENDS = time(22), time(7)
STEPS = ((0, 0, "No one"), (1, 1, "1 person"), (2, 2, "2 people"), (3, 5, "3 to 5 people"), (6, 10**6, "6 or more"))


def picked(histories: Sequence[IncidentHistory], types: Types) -> list[FigureRow]:
    """Return incidents by how many people a colleague brought in."""
    rows = []
    for least, most, label in STEPS:
        counted = tuple(CountedThing(one) for one in histories if least <= len(one.picked) <= most)
        if counted:
            rows.append(FigureRow(str(least), label, counted))
    return rows


def by_night(histories: Sequence[IncidentHistory], types: Types) -> list[FigureRow]:
    """Return people brought in by name, by the incident's type, marking those brought in during their night.

    People whose time zone the chat does not give come last.
    """
    found, unknown = [], []
    for one in histories:
        for arrival in one.picked:
            zone = zone_of(arrival.zone)
            if zone is None:
                unknown.append(CountedThing(one))
            else:
                found.append((one.type, CountedThing(one, marked=is_night(arrival.at, zone))))
    rows = by_type(found, types, whole="All types")
    return [*rows, FigureRow(UNKNOWN, "Time zone not known", tuple(unknown))] if unknown else rows


def is_night(at: datetime, zone: tzinfo) -> bool:
    """Return whether it is night in a time zone: from ten in the evening until seven in the morning."""
    then = at.astimezone(zone).time()
    return then >= NIGHT_BEGINS or then < NIGHT_ENDS


@cache
def zone_of(name: str) -> tzinfo | None:
    """Return the time zone of a name, or None if this machine does not know it."""
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):  # OSError: the name of a group of zones, such as America
        return None


def pages(histories: Sequence[IncidentHistory], types: Types) -> list[FigureRow]:
    """Return how many pages went to each target, marking acknowledged ones."""
    found = [
        (goes_to(page), CountedThing(one, marked=page.answered_at is not None))
        for one in histories
        for page in one.pages
    ]
    return _by_name(found)


def answers(histories: Sequence[IncidentHistory], types: Types) -> list[FigureRow]:
    """Return how long it took until a page was acknowledged, by its target."""
    found = []
    for one in histories:
        for page in one.pages:
            if page.answered_at is not None:
                seconds = max(0.0, (page.answered_at - page.opened_at).total_seconds())
                found.append((goes_to(page), CountedThing(one, seconds)))
    return _by_name(found)


def goes_to(page: AskedPage) -> str:
    """Return a page's target, without naming a person."""
    return A_PERSON if page.target.startswith("user/") else page.name


def _by_name(found: list[tuple[str, CountedThing]]) -> list[FigureRow]:
    filed = grouped(found)
    names = sorted((str(name) for name in filed), key=lambda name: (-len(filed[name]), name.casefold(), name))
    return [FigureRow(key_of(name), name, tuple(filed[name])) for name in names]


FIGURES = (
    InsightFigure(
        "pages",
        "Pages",
        "What was paged, and how many of the pages were acknowledged.",
        COUNTS,
        pages,
        needs=("pages",),
        unit="pages",
        part="acknowledged",
    ),
    InsightFigure(
        "page-answers",
        "Time to acknowledge a page",
        "From opening a page until someone acknowledged it. Unacknowledged pages are not counted.",
        TIMES,
        answers,
        needs=("title", "pages"),
        unit="pages",
    ),
    InsightFigure(
        "picked",
        "People brought in by name",
        "How many people colleagues brought in by name, besides those brought in by the type, a page or a schedule. "
        "Whether they were on call elsewhere is not recorded.",
        COUNTS,
        picked,
        needs=("picked",),
    ),
    InsightFigure(
        "by-night",
        "Brought in at night",
        "People brought in by name, by incident type, and how many were reached between 22:00 and 07:00 in the time "
        "zone of their Slack profile.",
        COUNTS,
        by_night,
        needs=("picked",),
        unit="people",
        part="by night",
    ),
)

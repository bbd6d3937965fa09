"""Figures about interruptions: people brought in by name, and pages, without who answered."""

from __future__ import annotations

from collections.abc import Sequence

from insights.figures.figure import COUNTS, TIMES, CountedThing, FigureRow, InsightFigure, Types, grouped
from insights.figures.history import AskedPage, IncidentHistory

A_PERSON = "One person, by name"  # figures name nobody
STEPS = ((0, 0, "Nobody"), (1, 1, "1 person"), (2, 2, "2 people"), (3, 5, "3 to 5 people"), (6, 10**6, "6 or more"))


def picked(histories: Sequence[IncidentHistory], types: Types) -> list[FigureRow]:
    """Return how many people a colleague brought into an incident."""
    rows = []
    for least, most, label in STEPS:
        counted = tuple(CountedThing(one) for one in histories if least <= one.picked <= most)
        if counted:
            rows.append(FigureRow(str(least), label, counted))
    return rows


def pages(histories: Sequence[IncidentHistory], types: Types) -> list[FigureRow]:
    """Return how many pages went to what, those that somebody acknowledged marked."""
    found = [
        (goes_to(page), CountedThing(one, marked=page.answered_at is not None))
        for one in histories
        for page in one.pages
    ]
    return _by_name(found)


def answers(histories: Sequence[IncidentHistory], types: Types) -> list[FigureRow]:
    """Return how long it took until a page was acknowledged, by what it went to."""
    found = []
    for one in histories:
        for page in one.pages:
            if page.answered_at is not None:
                seconds = max(0.0, (page.answered_at - page.opened_at).total_seconds())
                found.append((goes_to(page), CountedThing(one, seconds)))
    return _by_name(found)


def goes_to(page: AskedPage) -> str:
    """Return what a page went to; one person's name is nobody's business here."""
    return A_PERSON if page.target.startswith("user/") else page.name


def _by_name(found: list[tuple[str, CountedThing]]) -> list[FigureRow]:
    filed = grouped(found)
    names = sorted((str(name) for name in filed), key=lambda name: (-len(filed[name]), name.casefold(), name))
    return [FigureRow(f"to-{place}", name, tuple(filed[name])) for place, name in enumerate(names, 1)]


FIGURES = (
    InsightFigure(
        "pages",
        "Pages",
        "What was paged, and how many of those pages somebody acknowledged.",
        COUNTS,
        pages,
        needs=("pages",),
        unit="pages",
        part="acknowledged",
    ),
    InsightFigure(
        "page-answers",
        "Time to acknowledge a page",
        "From opening a page to the moment somebody acknowledged it. Pages that nobody acknowledged are not in it.",
        TIMES,
        answers,
        needs=("pages",),
        unit="pages",
    ),
    InsightFigure(
        "picked",
        "People brought in by name",
        "How many people a colleague brought into an incident, beside those its type, a page or a rota brought in. "
        "Whether they were on call elsewhere, and their time of day, are not recorded.",
        COUNTS,
        picked,
        needs=("picked",),
    ),
)

"""Figures about the response: how long until someone came, until someone led, and until the impact stopped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from insights.figures.figure import TIMES, CountedThing, FigureRow, InsightFigure, Types, Work, by_type
from insights.figures.history import IncidentHistory


def until(moment: Callable[[IncidentHistory], datetime | None]) -> Work:
    """Return the function that counts the time from the declaration to a moment, by declared type."""

    def rows(histories: Sequence[IncidentHistory], types: Types) -> list[FigureRow]:
        found = []
        for one in histories:
            seconds = one.since_declared_s(moment(one))
            if seconds is not None:
                found.append((one.declared_as, CountedThing(one, seconds)))
        return by_type(found, types, whole="All types")

    return rows


FIGURES = (
    InsightFigure(
        "first-human",
        "Time to a second person",
        "Until a second person joined or did anything, by declared type. If the pager declared it, until the first "
        "person.",
        TIMES,
        until(lambda one: one.first_human_at),
        needs=("title", "first_type", "first_human_at"),
    ),
    InsightFigure(
        "lead",
        "Time to a lead",
        "Until someone took the lead, by declared type.",
        TIMES,
        until(lambda one: one.led_at),
        needs=("title", "first_type", "led_at"),
    ),
    InsightFigure(
        "mitigate",
        "Time to mitigate",
        "Until it was mitigated, or resolved if no one mitigated it first, by declared type.",
        TIMES,
        until(lambda one: one.eased_at),
        needs=("title", "status", "mitigated_at", "ended_at", "first_type"),
    ),
)

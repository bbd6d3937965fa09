"""Figures about tasks and follow-ups: how many are done, and how long that took."""

from __future__ import annotations

from collections.abc import Sequence

from insights.figures.figure import COUNTS, TIMES, CountedThing, FigureRow, InsightFigure, Types, grouped
from insights.figures.history import IncidentHistory

PHASES = {"during": "Tasks, during the incident", "afterwards": "Follow-ups, afterwards"}


def followups(histories: Sequence[IncidentHistory], types: Types) -> list[FigureRow]:
    """Return how many tasks and follow-ups there are, marking those that are done."""
    found = [
        (owed.phase, CountedThing(one, None, owed.done_s is not None)) for one in histories for owed in one.followups
    ]
    filed = grouped(found)
    return [FigureRow(phase, name, tuple(filed[phase])) for phase, name in PHASES.items() if phase in filed]


def done(histories: Sequence[IncidentHistory], types: Types) -> list[FigureRow]:
    """Return how long it took until tasks and follow-ups were done."""
    found = [
        (owed.phase, CountedThing(one, max(0.0, owed.done_s)))
        for one in histories
        for owed in one.followups
        if owed.done_s is not None
    ]
    filed = grouped(found)
    return [FigureRow(phase, name, tuple(filed[phase])) for phase, name in PHASES.items() if phase in filed]


FIGURES = (
    InsightFigure(
        "follow-ups",
        "Tasks and follow-ups",
        "Tasks and follow-ups that were not dropped, and how many are done.",
        COUNTS,
        followups,
        needs=("followups",),
        unit="tasks",
        part="done",
    ),
    InsightFigure(
        "done",
        "Time until done",
        "From adding a task or follow-up until it was done. Open ones are not counted.",
        TIMES,
        done,
        needs=("title", "followups"),
        unit="tasks",
    ),
)

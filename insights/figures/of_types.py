"""Figures about types: the time until one was clear, which type became which, and how long each was held."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from insights.figures.figure import (  # fmt: skip
    FLOW,
    JOIN,
    MATRIX,
    TIMES,
    CountedThing,
    FigureRow,
    InsightFigure,
    Types,
    by_type,
    in_order,
    name_of,
)
from insights.figures.history import IncidentHistory, between_s

STEPS = 3  # retypes of one incident that are drawn


def clarity(histories: Sequence[IncidentHistory], types: Types) -> list[FigureRow]:
    """Return the time from the declaration to the first informative type, by that type.

    Which type was uninformative is read from the incident, because the default may be another one now.
    """
    cleared = ((one, one.cleared) for one in histories)
    found = [(step.slug, CountedThing(one, one.since_declared_s(step.at))) for one, step in cleared if step is not None]
    return by_type(found, types, whole="All that became clear")


def paths(histories: Sequence[IncidentHistory], types: Types) -> list[FigureRow]:
    """Return a row for each retype from one type to another, by how many retypes came before it."""
    filed: dict[tuple[int, str, str], list[CountedThing]] = defaultdict(list)
    for one in histories:
        changes = zip(one.steps, one.steps[1:], strict=False)
        for turn, (before, after) in enumerate(changes, 1):
            waited = between_s(before.at, after.at)
            filed[turn, before.slug, after.slug].append(CountedThing(one, waited))
    order = {slug: place for place, slug in enumerate(in_order({s for _, *both in filed for s in both}, types))}
    keys = sorted(filed, key=lambda key: (key[0], order[key[1]], order[key[2]]))
    return [_change(key, filed[key], types) for key in keys]


def _change(key: tuple[int, str, str], counted: list[CountedThing], types: Types) -> FigureRow:
    turn, before, after = key
    label = f"{name_of(before, types)} → {name_of(after, types)}"
    again = f", retype {turn}" if turn > 1 else ""
    colour = types[after].colour if after in types else "slate"
    return FigureRow(JOIN.join((str(turn), before, after)), f"{label}{again}", tuple(counted), colour)


def held(histories: Sequence[IncidentHistory], types: Types) -> list[FigureRow]:
    """Return how long each type was held each time, if that is over."""
    found = [(slug, CountedThing(one, seconds)) for one in histories for slug, seconds in one.stays()]
    return by_type(found, types)


def ended(histories: Sequence[IncidentHistory], types: Types) -> list[FigureRow]:
    """Return ended incidents by the type they were declared as and the type they ended with."""
    filed: dict[tuple[str, str], list[CountedThing]] = defaultdict(list)
    for one in histories:
        if one.ended_at is not None:
            filed[one.declared_as, one.type].append(CountedThing(one))
    rows = []
    for first in in_order({first for first, _ in filed}, types):
        for last in in_order({last for begun, last in filed if begun == first}, types):
            label = f"{name_of(first, types)}, ended as {name_of(last, types)}"
            colour = types[last].colour if last in types else "slate"
            rows.append(FigureRow(JOIN.join((first, last)), label, tuple(filed[first, last]), colour))
    return rows


FIGURES = (
    InsightFigure(
        "clarity",
        "Time to clarity",
        "From declaring an incident of an unclear type to its first clear type.",
        TIMES,
        clarity,
        needs=("title", "steps", "clear_at"),
    ),
    InsightFigure(
        "paths",
        "What became what",
        "Incidents that were retyped, starting from their declared type. Each retype counts once.",
        FLOW,
        paths,
        needs=("steps",),
        unit="retypes",
    ),
    InsightFigure(
        "held",
        "Time in each type",
        "How long incidents kept a type before they were retyped or ended. A reopened incident counts again.",
        TIMES,
        held,
        needs=("title", "ended_at", "steps", "rests"),
        unit="times",
    ),
    InsightFigure(
        "ended",
        "Declared as, ended as",
        "Incidents that have ended, by their first type and their last one.",
        MATRIX,
        ended,
        needs=("ended_at", "steps"),
    ),
)

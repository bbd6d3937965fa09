"""Figures about learning: hypotheses refuted before one held, how evidence was used, and what was seen before."""

from __future__ import annotations

from collections.abc import Sequence

from insights.figures.figure import COUNTS, CountedThing, FigureRow, InsightFigure, Types, by_type, grouped, key_of
from insights.figures.history import APART, IncidentHistory

HOLDS = {"supported", "root_cause"}
MANY = 3
NAMES = {0: "None", 1: "1 hypothesis", 2: "2 hypotheses", MANY: "3 or more"}
CAME = {
    "capture": "Captured by the type",
    "upload": "Uploaded",
    "web": "Uploaded",
    "slack": "From Slack",
    "api": "By the API",
    "otlp": "By OTLP",
    "terminal": "From a terminal",
    "sample": "Sample data",
}


def refuted_before(one: IncidentHistory) -> int | None:
    """Return how many hypotheses were refuted when one first held; None if none held yet."""
    stands: dict[str, str] = {}
    for told in one.rounds:
        finding, _, verdict = told.partition(APART)
        stands[finding] = verdict
        if verdict in HOLDS:
            return list(stands.values()).count("refuted")
    return None


def refuted(histories: Sequence[IncidentHistory], types: Types) -> list[FigureRow]:
    """Return incidents by how many hypotheses were refuted before the first that held."""
    counts = [(one, refuted_before(one)) for one in histories]
    filed = grouped((min(count, MANY), CountedThing(one)) for one, count in counts if count is not None)
    return [FigureRow(str(count), name, tuple(filed[count])) for count, name in NAMES.items() if count in filed]


def pieces(histories: Sequence[IncidentHistory], types: Types) -> list[FigureRow]:
    """Return how evidence came, marking pieces that a verdict rests on."""
    found = [
        (CAME.get(via or "upload", via or ""), CountedThing(one, None, used))
        for one in histories
        for via, used, _ in one.evidence
    ]
    filed = grouped(found)
    names = sorted((str(name) for name in filed), key=lambda name: (-len(filed[name]), name))
    return [FigureRow(key_of(name), name, tuple(filed[name])) for name in names]


def seen_before(histories: Sequence[IncidentHistory], types: Types) -> list[FigureRow]:
    """Return incidents with a profile by declared type, marking those hot in the same places as an earlier one."""
    found = [
        (one.declared_as, CountedThing(one, marked=one.seen_before)) for one in histories if one.seen_before is not None
    ]
    return by_type(found, types, whole="All types")


FIGURES = (
    InsightFigure(
        "refuted",
        "Refuted before one held",
        "Incidents with a hypothesis that held (supported, or the root cause), by how many others had been refuted by "
        "then. Refuting early is good work, not a failure.",
        COUNTS,
        refuted,
        needs=("rounds",),
    ),
    InsightFigure(
        "evidence",
        "Evidence",
        "How evidence was added, and how much of it a verdict cites.",
        COUNTS,
        pieces,
        needs=("evidence",),
        unit="pieces",
        part="cited in a verdict",
    ),
    InsightFigure(
        "seen-before",
        "Seen before",
        "Incidents with a profile, by declared type, and how many were hot in the same places as an earlier incident "
        "that you can see.",
        COUNTS,
        seen_before,
        needs=("first_type", "evidence", "seen_before"),
        part="seen before",
    ),
)

"""Which figures are on which page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from insights.figures import of_evidence, of_followups, of_interruptions, of_response, of_types
from insights.figures.figure import InsightFigure


@dataclass(frozen=True, slots=True)
class InsightChapter:
    """One page of figures."""

    slug: str
    title: str
    figures: tuple[InsightFigure, ...]

    @property
    def needs(self) -> tuple[str, ...]:
        """The parts of each incident that its figures read, without duplicates."""
        return tuple(dict.fromkeys(part for one in self.figures for part in one.needs))


CHAPTERS: Final[Mapping[str, InsightChapter]] = {
    one.slug: one
    for one in (
        InsightChapter("types", "Types", of_types.FIGURES),
        InsightChapter("response", "Response", of_response.FIGURES),
        InsightChapter("interruptions", "Interruptions", of_interruptions.FIGURES),
        InsightChapter("evidence", "Learning", of_evidence.FIGURES),
        InsightChapter("follow-ups", "Follow-ups", of_followups.FIGURES),
    )
}
FIGURES: Final[Mapping[str, InsightFigure]] = {
    figure.slug: figure for chapter in CHAPTERS.values() for figure in chapter.figures
}

"""The sections of a review, in reading order, and what changed in one since it was composed. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from reviews.composing import asking, happened, measured, reached, to_do
from reviews.composing.passage import Passage, ReviewSentence
from reviews.composing.story import ReviewStory


@dataclass(frozen=True, slots=True)
class SectionKind:
    """A section: its title, the function that composes it, and what people are asked to write in it."""

    key: str
    title: str
    compose: Callable[[ReviewStory], tuple[Passage, ...]]
    asks: str
    none: str = "Nothing on the timeline."


SECTIONS: Final = (
    SectionKind("summary", "Summary", happened.summary, "In two sentences: what happened, and how it affected people."),
    SectionKind("narrative", "What happened", happened.narrative, "What does the timeline not show?"),
    SectionKind("decisions", "Decisions", happened.decisions, "What did people know when they decided this?"),
    SectionKind("evidence", "Evidence", measured.evidence, "What did each measurement change?", "No evidence."),
    SectionKind(
        "hypotheses", "Hypotheses", measured.hypotheses, "What would have told them apart sooner?", "No hypotheses."
    ),
    SectionKind(
        "hard",
        "What was hard",
        asking.hard,
        "What surprised you? Where did you have to guess? What did you work around? Which tool or page did you miss? "
        "What went well that no one would notice?",
    ),
    SectionKind("people", "Who was pulled in", reached.people, "Who was missing, and who could have slept?"),
    SectionKind("pages", "Pages", reached.pages, "Did they reach the right people?", "No one was paged."),
    SectionKind(
        "followups",
        "Follow-ups",
        to_do.followups,
        "What has to change, and who would notice if it doesn't?",
        "None yet.",
    ),
)
KEYS: Final = frozenset(one.key for one in SECTIONS)
# Every kind of entry that some section reads.
KINDS: Final = sorted(
    {
        *happened.NARRATED, *happened.DECIDED, *reached.CAME, *to_do.MADE, *to_do.BECAME,
        "described", "did", "admitted", "paged", "page", "due",
        "failed", "gap",
    }
)  # fmt: skip


def sentences(passages: tuple[Passage, ...]) -> Iterator[ReviewSentence]:
    """Yield every sentence of a section."""
    return (sentence for passage in passages for sentence in passage.sentences)


@dataclass(frozen=True, slots=True)
class SectionChanges:
    """What composing a section again would add and remove."""

    added: tuple[ReviewSentence, ...]
    gone: tuple[ReviewSentence, ...]

    def __bool__(self) -> bool:
        return bool(self.added or self.gone)


def changes(was: tuple[Passage, ...], now: tuple[Passage, ...]) -> SectionChanges:
    """Compare a section as it is with how it would be composed now."""
    before, after = dict.fromkeys(sentences(was)), dict.fromkeys(sentences(now))
    return SectionChanges(
        tuple(one for one in after if one not in before), tuple(one for one in before if one not in after)
    )

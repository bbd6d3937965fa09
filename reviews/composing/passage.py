"""What sections are made of: sentences, each with the entries it is based on. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from incidents import event_kinds
from incidents.reading.catch_up import SaidEntry

Data = Mapping[str, Any]
# How entries read in a review if their own sentence is only their text.
BARE: Final[Mapping[str, Callable[[str, Data], str]]] = {
    "updated": lambda text, data: f"posted an update: {text}",  # every sentence takes both
    "noted": lambda text, data: f"noted: {text}",  # every sentence takes both
    "captured": lambda text, data: f"wrote: {text}",  # every sentence takes both
}


@dataclass(frozen=True, slots=True)
class ReviewSentence:
    """One sentence, to follow the actor's name, and the numbers of the entries it is based on.

    ``took_s`` is the time from the first of those to the last, if it is worth mentioning.
    """

    text: str
    backed_by: tuple[int, ...]
    at: datetime | None = None
    by: str = ""
    took_s: float | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """Sentences that belong together, and what they are about.

    ``type`` is the slug of the incident's type at the time, ``evidence`` the number of a piece of evidence, which is
    ``pictured`` if it can be drawn, and ``verdict`` the verdict on a hypothesis.
    """

    sentences: tuple[ReviewSentence, ...]
    label: str = ""
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    type: str = ""
    evidence: int = 0
    pictured: bool = False
    verdict: str = ""


def told(entry: SaidEntry, text: str = "") -> ReviewSentence:
    """Say one entry as the timeline does, or in the given words."""
    by = str(entry.data.get("author", "")) if entry.kind == "captured" else entry.by
    words = text or BARE.get(entry.kind, event_kinds.of(entry.kind).sentence)(entry.text, entry.data)
    return ReviewSentence(words, (entry.n,), entry.at, by)


def took(first: SaidEntry | None, last: SaidEntry, text: str = "") -> ReviewSentence:
    """Say the last of two entries, and how long it came after the first; without a first, only the last."""
    one = told(last, text)
    if first is None or last.at < first.at:
        return one
    return ReviewSentence(one.text, (first.n, last.n), one.at, one.by, (last.at - first.at).total_seconds())


def listed(*sentences: ReviewSentence, label: str = "") -> tuple[Passage, ...]:
    """Return one passage of some sentences, or none if there are none."""
    return (Passage(sentences, label),) if sentences else ()

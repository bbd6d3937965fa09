"""A review as Markdown: people's text unchanged, composed sentences as lists with links to their sources."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from django.utils import timezone

from incidents.models import Incident
from incidents.sentences import capital
from incidents.templatetags.firekind import span, twice
from reviews.composing.passage import Passage, ReviewSentence
from reviews.models import Review, ReviewState
from reviews.reading import ReviewDocument, ReviewPart

_SPECIAL: Final = re.compile(r"([\\*_\[\]<>#|])")


def of(document: ReviewDocument, *, address: str) -> str:
    """Return the whole review; ``address`` is the incident's page, to which sources link."""
    return "\n".join(_lines(document, address)) + "\n"


def _lines(document: ReviewDocument, address: str) -> Iterator[str]:
    incident = document.incident
    yield f"# {'Drill: ' if incident.is_drill else ''}{plain(incident.title)}"
    yield ""
    yield f"Review of [{incident.codename}]({address}) · {state_of(document.review)} · {lasted(incident)}"
    if incident.private:
        yield "**Private: for its participants only.**"
    if document.is_cut:
        yield f"**{document.cut}**"
    yield f"Times in {timezone.get_current_timezone_name()}. Numbers in brackets are entries of the timeline."
    for part in document.parts:
        yield from _section(part, address)


def _section(part: ReviewPart, address: str) -> Iterator[str]:
    if not (part.text or part.passages):
        return
    yield ""
    yield f"## {part.kind.title}"
    if part.text:
        yield ""
        yield part.text
    for passage in part.passages:
        yield from _passage(passage, address)


def _passage(passage: Passage, address: str) -> Iterator[str]:
    yield ""
    if passage.label:
        yield f"### {plain(passage.label)}{_from_to(passage)}"
        yield ""
    if passage.verdict:
        yield f"*{verdict_of(passage.verdict)}*"
        yield ""
    if passage.evidence:
        yield f"[Evidence {passage.evidence}]({address}evidence/{passage.evidence}/)"
        yield ""
    for sentence in passage.sentences:
        yield f"- {_sentence(sentence, address)}"


def _sentence(sentence: ReviewSentence, address: str) -> str:
    when = f"{at(sentence.at)} " if sentence.at else ""
    by = f"**{plain(sentence.by)}** " if sentence.by else ""
    text = plain(sentence.text) if by else plain(capital(sentence.text))
    took = f" ({taken(sentence.took_s)})" if sentence.took_s is not None else ""
    sources = ", ".join(f"[{n}]({address}#e{n})" for n in sentence.backed_by)
    return f"{when}{by}{text}{took} ({sources})"


def _from_to(passage: Passage) -> str:
    if passage.starts_at is None:
        return ""
    if passage.ends_at is None:
        return f", from {at(passage.starts_at)}"
    took = span((passage.ends_at - passage.starts_at).total_seconds())
    return f", {at(passage.starts_at)} to {at(passage.ends_at)} ({took})"


def plain(text: str) -> str:
    """Escape text for Markdown; names between backticks stay code."""
    parts = " ".join(text.split()).split("`")
    if len(parts) % 2 == 0:
        return _SPECIAL.sub(r"\\\1", "\\`".join(parts))
    return "`".join(part if place % 2 else _SPECIAL.sub(r"\\\1", part) for place, part in enumerate(parts))


def at(moment: datetime) -> str:
    """Format a moment in the reader's time zone."""
    here = timezone.localtime(moment)
    return f"{here.day} {here:%b %Y, %H:%M} {twice(here)}".rstrip()


def taken(seconds: float) -> str:
    """Say how long after something else this came."""
    return f"after {span(seconds)}" if seconds >= 60 else "within a minute"


def lasted(incident: Incident) -> str:
    """Say how long the incident lasted."""
    over = incident.ended_at
    return f"lasted {span(incident.age_s(at=over))}" if over else f"declared {at(incident.declared_at)}"


def state_of(review: Review | None) -> str:
    """Say the state of a review in words."""
    if review is None or review.state == ReviewState.DRAFT:
        return "Draft"
    if review.state == ReviewState.MEETING and review.meeting_at:
        return f"Meeting on {at(review.meeting_at)}"
    return f"Published {at(review.published_at)}" if review.published_at else "Published"


def verdict_of(verdict: str) -> str:
    """Say what became of a hypothesis."""
    words = {
        "root_cause": "Root cause",
        "supported": "Supported",
        "partial": "Partly true",
        "refuted": "Refuted",
        "open": "Never judged",
    }
    return words.get(verdict, verdict)

"""Read a review: the timeline once, what people wrote, and the state of each section."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.db.models import F

from incidents import timeline
from incidents.models import Event, Incident, Person
from incidents.timeline import TimelineEntry
from reviews.composing import document, story
from reviews.composing.document import KINDS, SECTIONS, SectionChanges, SectionKind
from reviews.composing.passage import Passage
from reviews.composing.story import StoryEntry
from reviews.models import Review, ReviewComment, ReviewSection, SectionText
from workflows.models import Page

MOST: Final = 5_000  # entries of the timeline that a review reads, the oldest


@dataclass(frozen=True, slots=True)
class ReviewPart:
    """One section as it is shown: its composed passages, people's text, and what changed on the timeline since."""

    kind: SectionKind
    passages: tuple[Passage, ...]
    changes: SectionChanges
    seen: str
    version: int
    written: SectionText | None = None
    comments: Sequence[ReviewComment] = ()

    @property
    def text(self) -> str:
        """What people wrote in it."""
        return self.written.text if self.written is not None else ""


@dataclass(frozen=True, slots=True)
class ReviewDocument:
    """A review as it is now; ``n`` is the newest entry read for it, ``is_cut`` whether there were too many."""

    incident: Incident
    review: Review | None
    parts: tuple[ReviewPart, ...]
    n: int
    is_cut: bool

    @property
    def cut(self) -> str:
        """A notice that later entries were not read, if there are too many."""
        return f"This timeline is very long: the review reads its oldest {MOST:,} entries." if self.is_cut else ""


def of(incident: Incident, *, reader: Person) -> ReviewDocument:
    """Return the review of an incident; the caller has checked that ``reader`` may see it.

    At most eight queries, however long the timeline is.
    """
    entries = _entries(incident, reader)
    pages = dict(Page.objects.filter(incident=incident).values_list("key", "name"))
    review = Review.objects.filter(incident=incident).first()
    kept = {one.key: one for one in ReviewSection.objects.filter(review=review)} if review else {}
    texts, comments = _written(kept), _comments(kept)
    reads = {incident.last_n, *(one.read_to for one in kept.values())}
    stories = {n: story.as_of(entries, n, pages=pages) for n in reads}
    parts = []
    for kind in SECTIONS:
        section = kept.get(kind.key)
        read_to = section.read_to if section else incident.last_n
        shown = kind.compose(stories[incident.last_n])
        passages = shown if read_to == incident.last_n else kind.compose(stories[read_to])
        parts.append(
            ReviewPart(
                kind,
                passages,
                document.changes(passages, shown),
                section.seen if section else "0.0",
                section.version if section else 0,
                texts.get(section.pk) if section else None,
                comments.get(section.pk, ()) if section else (),
            )
        )
    return ReviewDocument(incident, review, tuple(parts), incident.last_n, len(entries) >= MOST)


def versions(incident: Incident, key: str) -> list[SectionText]:
    """Return every version of what people wrote in a section, newest first."""
    found = SectionText.objects.filter(section__review__incident=incident, section__key=key)
    return list(found.select_related("by").order_by("-version"))


def _entries(incident: Incident, reader: Person) -> list[StoryEntry]:
    events = Event.objects.filter(incident=incident, kind__in=KINDS).select_related("by").order_by("n")[:MOST]
    return [_entry(one) for one in timeline.entries(timeline.naming(events, reader=reader))]


def _entry(entry: TimelineEntry) -> StoryEntry:
    event = entry.event
    edits = tuple((one.n, one.text) for one in entry.history if one.kind == "edited")
    by = event.by.name if event.by else ""
    return StoryEntry(event.n, event.kind, event.at, by, event.text, event.data, edits, entry.stands)


def _written(kept: Mapping[str, ReviewSection]) -> dict[int, SectionText]:
    newest = SectionText.objects.filter(section__in=list(kept.values()), version=F("section__version"))
    return {one.section_id: one for one in newest.select_related("by")}


def _comments(kept: Mapping[str, ReviewSection]) -> dict[int, list[ReviewComment]]:
    found: dict[int, list[ReviewComment]] = {}
    for one in ReviewComment.objects.filter(section__in=list(kept.values())).select_related("by").order_by("at", "pk"):
        found.setdefault(one.section_id, []).append(one)
    return found

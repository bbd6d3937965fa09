"""Timeline entries as HTML: readers who see the same in an entry share one rendering."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString

from incidents import event_kinds, numbered
from incidents.models import Incident, Person, Source
from incidents.timeline import TimelineEntry

KEPT: Final = 4000  # entries, of about a kilobyte each
VIA: Final = {Source.SLACK, Source.TERMINAL, Source.API, Source.SAMPLE}
TYPES_OF: Final = {"declared": ("type",), "retyped": ("to", "from")}  # keys of an entry's data that name types


@dataclass(frozen=True, slots=True)
class ShownEntry:
    """Everything that an entry is rendered from, for its reader: entries that are equal look the same to anyone.

    ``by`` and ``taken_by`` are names, the latter of who retracted or redacted it. ``tints`` are the colours of the
    types it names, its own first. ``zone`` and ``year`` are those in which times are shown.
    """

    n: int
    kind: str
    at: datetime
    by: str
    source: str
    text: str
    told: str  # the data as a string, for comparing
    data: Mapping[str, Any] = field(compare=False)
    link: str
    codename: str
    base: str
    tints: tuple[str, ...]
    is_quiet: bool
    is_new: bool
    is_edited: bool
    is_retracted: bool
    is_redacted: bool
    taken_by: str
    taken_at: datetime | None
    taken_because: str
    can_edit: bool
    can_redact: bool
    can_resolve: bool
    zone: str
    year: int

    @property
    def borne(self) -> str:
        """Its number as links carry it."""
        return numbered.written(self.n, self.at)

    @property
    def label(self) -> str:
        """What entries of its kind are called."""
        return event_kinds.of(self.kind).label

    @property
    def taken(self) -> str:
        """The word for one that was taken back: retracted, or withdrawn."""
        return event_kinds.of(self.kind).taken

    @property
    def via(self) -> str:
        """Where it came from, if that was not the web."""
        return Source(self.source).label if self.source in VIA else ""

    @property
    def sentence(self) -> str:
        """What happened, to follow the actor's name."""
        return event_kinds.sentence(self.kind, text=self.text, data=self.data)


def drawn(
    entries: Iterable[TimelineEntry],
    incident: Incident,
    *,
    reader: Person,
    tints: Mapping[str, str],
    new_after: int | None = None,
) -> dict[int, SafeString]:
    """Render entries of one incident for a reader, by number; those after ``new_after`` are shown as new.

    ``tints`` are the colours of types by slug.
    """
    draw = drawn_once.__wrapped__ if settings.DEBUG else drawn_once  # in development, template changes must show
    shows = _Showing(incident, reader, tints, new_after)
    return {entry.event.n: draw(shows.entry(entry)) for entry in entries}


class _Showing:
    """What the entries of one page share."""

    def __init__(self, incident: Incident, reader: Person, tints: Mapping[str, str], new_after: int | None) -> None:
        here = timezone.get_current_timezone()
        self.zone, self.year = str(here), timezone.now().astimezone(here).year
        self.incident, self.base, self.tints = incident, incident.get_absolute_url(), tints
        self.reader_id, self.leads, self.new_after = reader.pk, incident.lead_id == reader.pk, new_after

    def entry(self, entry: TimelineEntry) -> ShownEntry:
        event, taken = entry.event, entry.redacted or entry.retracted
        data = event.data
        return ShownEntry(
            n=event.n,
            kind=event.kind,
            at=event.at,
            by=event.by.name if event.by else "",
            source=event.source,
            text=entry.text,
            told=repr(data),
            data=data,
            link=event.link,
            codename=self.incident.codename,
            base=self.base,
            tints=tuple(self.tints.get(data[key], "") for key in TYPES_OF.get(event.kind, ())),
            is_quiet=entry.kind.quiet and entry.stands,
            is_new=self.new_after is not None and event.n > self.new_after,
            is_edited=bool(entry.history),
            is_retracted=entry.retracted is not None,
            is_redacted=entry.redacted is not None,
            taken_by=taken.by.name if taken and taken.by else "",
            taken_at=taken.at if taken else None,
            taken_because=entry.retracted.text if entry.retracted else "",
            can_edit=entry.mendable and entry.stands and (self.leads or event.by_id == self.reader_id),
            can_redact=entry.redactable and self.leads,
            can_resolve=data.get("ask") == "resolve" and self.incident.is_active,
            zone=self.zone,
            year=self.year,
        )


@lru_cache(maxsize=KEPT)
def drawn_once(entry: ShownEntry) -> SafeString:
    """Render an entry from nothing but itself: the caller has checked who may read it."""
    return render_to_string("incidents/_entry.html", {"entry": entry})

"""The entries of a timeline: one is drawn once for everyone to whom it says the same."""

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
TYPES_OF: Final = {"declared": ("type",), "retyped": ("to", "from")}  # where an entry's data name types


@dataclass(frozen=True, slots=True)
class ShownEntry:
    """All that an entry is drawn from, as its reader reads it: entries that are equal look the same to anybody.

    ``by`` and ``taken_by`` are names, the latter of who retracted or redacted it. ``tints`` are the colours of the
    types that it names, its own first. ``zone`` and ``year`` are those in which times are read.
    """

    n: int
    kind: str
    at: datetime
    by: str
    source: str
    text: str
    told: str  # the data as it is written out
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
        """Its number as links bear it."""
        return numbered.written(self.n, self.at)

    @property
    def label(self) -> str:
        """What entries of its kind are called."""
        return event_kinds.of(self.kind).label

    @property
    def taken(self) -> str:
        """What is said of one that was taken back: that it was retracted, or withdrawn."""
        return event_kinds.of(self.kind).taken

    @property
    def via(self) -> str:
        """Where it came from, where that was not the web."""
        return Source(self.source).label if self.source in VIA else ""

    @property
    def sentence(self) -> str:
        """What happened, after the name of who did it."""
        return event_kinds.sentence(self.kind, text=self.text, data=self.data)


def drawn(
    entries: Iterable[TimelineEntry],
    incident: Incident,
    *,
    reader: Person,
    tints: Mapping[str, str],
    new_after: int | None = None,
) -> dict[int, SafeString]:
    """Draw entries of one incident for a reader, by their numbers; those after ``new_after`` are shown to arrive.

    ``tints`` are the colours of types by their slugs.
    """
    draw = drawn_once.__wrapped__ if settings.DEBUG else drawn_once  # whoever works on a template sees it change
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
    """Draw an entry from itself alone: whoever may read it was asked before, and nothing else goes into it."""
    return render_to_string("incidents/_entry.html", {"entry": entry})

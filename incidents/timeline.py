"""The only writer of events, and timeline entries as a reader sees them now."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from django.db import connection
from django.db.models import Q, QuerySet

from audit.sealed import redacting
from incidents import event_kinds, numbered, visibility
from incidents.indexing import word_index
from incidents.models import Event, Incident, Person, Source
from incidents.visibility import Actor
from incidents.written_rows import WrittenInsert, WrittenRows

CHANNEL = "firekind_timeline"
FIRST: Final = WrittenInsert(Event)
EVENT: Final = WrittenRows(Event, of="e", beside={"by": WrittenRows(Person, of="b")})
WHOSE: Final = "FROM incidents_event e LEFT JOIN incidents_person b ON b.id = e.by_id"
ABOUT_OTHERS = ("edited", "retracted", "redacted")  # kinds of entries that are read with the entry they are about

_APPEND = f"""
    WITH counted AS (
        UPDATE incidents_incident i SET last_n = last_n + 1, words = {word_index.WITH_WORDS}
          FROM (VALUES (%(words)s::text)) AS said (words)
         WHERE id = %(incident)s
     RETURNING last_n, pg_notify(%(channel)s, id || ':' || last_n))
    INSERT INTO incidents_event (incident_id, n, kind, at, recorded_at, by_id, source, text, data, link, about_n, salt)
    SELECT %(incident)s, last_n, %(kind)s, %(at)s, %(recorded_at)s, %(by)s, %(source)s, %(text)s, %(data)s::jsonb,
           %(link)s, %(about_n)s, %(salt)s
      FROM counted
 RETURNING id, n
"""  # noqa: S608 (put together of constants)


def append(
    incident: Incident,
    kind: str,
    *,
    at: datetime,
    recorded_at: datetime | None = None,
    by: Person | None = None,
    source: str = Source.SYSTEM,
    text: str = "",
    data: Mapping[str, Any] | None = None,
    link: str = "",
    about_n: int | None = None,
) -> Event:
    """Write the next entry and notify live pages, in the caller's transaction.

    The number is taken by updating the incident's row, so entries are numbered without gaps and writers of one incident
    queue up. The NOTIFY is sent when the transaction commits, never before.
    """
    event = Event(
        incident=incident,
        kind=kind,
        at=at,
        recorded_at=recorded_at or at,
        by=by,
        source=source,
        text=text,
        data=dict(data or {}),
        link=link,
        about_n=about_n,
        salt=redacting.salt(),
    )
    with connection.cursor() as cursor:
        cursor.execute(_APPEND, _columns(event))
        row = cursor.fetchone()
    assert row is not None, "an incident is never deleted"
    event.pk, event.n = row
    incident.last_n = event.n
    return event


def _columns(event: Event) -> dict[str, Any]:
    return {
        "incident": event.incident_id,
        "kind": event.kind,
        "at": event.at,
        "recorded_at": event.recorded_at,
        "by": event.by_id,
        "source": str(event.source),
        "text": event.text,
        "words": f"{event.text} {event.data.get(word_index.SAYS, '')}".strip(),
        "data": json.dumps(event.data),
        "link": event.link,
        "about_n": event.about_n,
        "salt": event.salt,
        "most": word_index.WORDS_BYTES,
        "channel": CHANNEL,
    }


def begin(
    incident: Incident, kind: str, *, at: datetime, by: Person | None, source: str, text: str, data: Mapping[str, Any]
) -> None:
    """Write the first entry of an incident that was inserted with ``last_n=1`` and its words in this transaction."""
    event = Event(
        incident=incident,
        n=1,
        kind=kind,
        at=at,
        recorded_at=at,
        by=by,
        source=source,
        text=text,
        data=dict(data),
        salt=redacting.salt(),
    )
    FIRST.add([event])


def hold(incident_id: int) -> None:
    """Take the lock that writing an entry takes, in the caller's transaction.

    Planning writes entries and then changes effects; code that does it in the other order takes this lock first.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT FROM incidents_incident WHERE id = %s FOR NO KEY UPDATE", [incident_id])


def nudge_readers(incident_id: int) -> None:
    """Have live pages check again although no entry was written (an effect moved, access changed)."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_notify(%s, id || ':' || last_n) FROM incidents_incident WHERE id = %s", [CHANNEL, incident_id]
        )


def seen_of(incident: Incident, borne: str | None) -> int | None:
    """Return the number of the newest entry on a page, 0 before the first; None if that entry no longer exists."""
    if numbered.read(borne) == 0:
        return 0
    event = numbered.found(Event.objects.filter(incident=incident).only("n", "at"), borne)
    return event.n if event else None


@dataclass(slots=True)
class TimelineEntry:
    """An event as a reader sees it now: its latest text, whether it was retracted, and its history."""

    event: Event
    text: str
    history: list[Event] = field(default_factory=list)
    retracted: Event | None = None
    redacted: Event | None = None

    @property
    def stands(self) -> bool:
        """Whether it still says what it said: it was neither retracted nor redacted."""
        return self.retracted is None and self.redacted is None

    @property
    def kind(self) -> event_kinds.EventKind:
        """How this kind of event reads."""
        return event_kinds.of(self.event.kind)

    @property
    def mendable(self) -> bool:
        """Whether its author may edit or retract it."""
        return self.redacted is None and (self.kind.editable or self.event.kind == "captured")

    @property
    def redactable(self) -> bool:
        """Whether it holds text that someone typed, which the lead may redact."""
        return self.redacted is None and self.event.kind in event_kinds.TYPED

    @property
    def sentence(self) -> str:
        """The event in words, with its latest text; a redacted or retracted entry says only that."""
        if self.redacted is not None:
            return "redacted"
        if self.retracted is not None:
            return self.kind.taken
        return event_kinds.sentence(self.event.kind, text=self.text, data=self.event.data)


def latest(
    incident: Incident,
    *,
    limit: int,
    reader: Actor,
    before: tuple[datetime, int] | None = None,
    after: tuple[datetime, int] | None = None,
    only: Q | None = None,
) -> list[TimelineEntry]:
    """Return the newest entries in the order things happened, oldest first: all, or those that match ``only``.

    ``before`` is the (at, n) of the oldest entry already shown, exclusive; ``after`` is that of the oldest to return.
    Other incidents are named only if ``reader`` may see them. Two queries, however long the timeline is, and a third if
    other incidents are named.
    """
    events = _spoken(incident).filter(only or Q())
    if after is not None:
        at, n = after
        events = events.filter(Q(at__gt=at) | Q(at=at, n__gte=n), at__gte=at)
    if before is not None:
        at, n = before
        events = events.filter(Q(at__lt=at) | Q(at=at, n__lt=n), at__lte=at)
    newest = list(events.order_by("-at", "-n")[:limit])
    return entries(naming(reversed(newest), reader=reader))


def naming(events: Iterable[Event], *, reader: Actor) -> list[Event]:
    """Have events name the other incidents they are about, if ``reader`` may see those now.

    Entries are stored as they were written, and an incident they name may have turned private since. An event that has
    not been through this function names no other incident.
    """
    found = list(events)
    names = {str(event.data["of"]) for event in found if "of" in event.data}
    seen = visibility.named(reader, names) if names else set()
    return [_naming(event) if event.data.get("of") in seen else event for event in found]


def one_by_one(events: Iterable[Event], *, reader: Actor) -> list[Event]:
    """Return events for a flat list: with their original text, naming other incidents as ``naming`` does.

    The sentence read from evidence is left out if that evidence was withdrawn since.
    """
    found = naming(events, reader=reader)
    told = {(event.incident_id, event.n) for event in found if word_index.SAYS in event.data}
    if not told:
        return found
    changes = Event.objects.filter(kind="retracted", incident__in={incident for incident, _ in told})
    gone = told & set(changes.filter(about_n__in={n for _, n in told}).values_list("incident", "about_n"))
    return [_unsaid(event) if (event.incident_id, event.n) in gone else event for event in found]


def _unsaid(event: Event) -> Event:
    bare = copy(event)
    bare.data = {key: value for key, value in event.data.items() if key != word_index.SAYS}
    return bare


def _naming(event: Event) -> Event:
    """Return a copy of an event that names the other incident; the event itself may be shared with other readers."""
    named = copy(event)
    named.data = {**event.data, "names": event.data["of"]}
    return named


def naming_in(entries: Sequence[TimelineEntry], *, reader: Actor) -> list[TimelineEntry]:
    """Return entries whose events name the other incidents they are about, as ``naming`` does."""
    events = naming((entry.event for entry in entries), reader=reader)
    return [
        entry if entry.event is event else replace(entry, event=event)
        for entry, event in zip(entries, events, strict=True)
    ]


def read(where: str, params: Sequence[Any]) -> list[Event]:
    """Return the events, each with its actor, that match ``where``: SQL about the table ``e``, including the order.

    For what every page and plan reads: Django takes longer to build the statement than PostgreSQL to answer it.
    """
    return EVENT.read(f"{WHOSE} WHERE {where}", params)


def since(incident: Incident, n: int) -> QuerySet[Event]:
    """Return the events after number ``n``, in the order they were recorded; they name no other incident."""
    return Event.objects.filter(incident=incident, n__gt=n).select_related("by").order_by("n")


def entries(events: Iterable[Event]) -> list[TimelineEntry]:
    """Combine events with the edits, retractions and redactions that other events made to them, in one query."""
    shown = {(event.incident_id, event.n): TimelineEntry(event, event.text) for event in events}
    incidents, numbers = {incident for incident, _ in shown}, {n for _, n in shown}
    changed = "e.incident_id = ANY (%s) AND e.about_n = ANY (%s) AND e.about_n IS NOT NULL ORDER BY e.n"
    for change in read(changed, [[*incidents], [*numbers]]) if shown else ():
        assert change.about_n is not None, "filtered on it"
        if entry := shown.get((change.incident_id, change.about_n)):
            _apply(change, entry)
    return list(shown.values())


def _apply(change: Event, entry: TimelineEntry) -> None:
    if change.kind == "redacted":
        entry.redacted = change
        return
    entry.history.append(change)
    if change.kind == "retracted":
        entry.retracted = change
    else:
        entry.text, entry.retracted = change.text, None


def sentence(event: Event) -> str:
    """Say one event as a sentence that follows its actor's name; a redacted one says only that."""
    return "redacted" if event.redacted else event_kinds.sentence(event.kind, text=event.text, data=event.data)


def _spoken(incident: Incident) -> QuerySet[Event]:
    return Event.objects.filter(incident=incident).exclude(kind__in=ABOUT_OTHERS).select_related("by")

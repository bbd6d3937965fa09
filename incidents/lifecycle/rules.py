"""What all verbs share: the lock, the check for stale forms, text validation and user-facing errors."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.models import Max

from audit import tracing
from incidents import codenames, hints, still_seen, timeline, visibility
from incidents.claiming import turns
from incidents.claiming.shared_clock import clock
from incidents.models import Codename, Event, Incident, Person

TITLE_CHARS = 200
TEXT_CHARS = 10_000
MOST_SERVICES = 50
LOCK = "SELECT id FROM incidents_incident WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE"
TITLE_CUT = "The title was too long, so it was shortened. The summary starts with the full title."


class Refused(Exception):
    """A verb was not carried out; the message tells the user why and what to do."""


class BadInput(Refused):
    """The input cannot be used; ``field`` names the field it is in."""

    def __init__(self, field: str, says: str) -> None:
        super().__init__(says)
        self.field = field


class Stale(Refused):
    """The incident changed since the form was opened; ``changes`` are the events that matter."""

    def __init__(self, changes: list[Event]) -> None:
        said = "; ".join(f"{_who(event)} {timeline.sentence(event)}" for event in changes)
        super().__init__(f"This changed while you were writing: {said}. Review it, then confirm.")
        self.changes = changes


class ReachChanged(Stale):
    """Other people would be reached now than the form said."""

    def __init__(self) -> None:
        Refused.__init__(self, "Who this pages or brings in changed while you were writing. Review it, then confirm.")
        self.changes = []


class NotThere(Incident.DoesNotExist):
    """For this actor the incident does not exist: hidden or absent, every door answers the same.

    Not a ``Refused``, because those messages are shown on the incident's own page.
    """


@contextmanager
def changing(
    incident: Incident,
    *,
    by: Person | None,
    from_outside: bool = False,
    since: int | None = None,
    clash: Collection[str] = (),
    beside: Incident | None = None,
    several: bool = False,
) -> Iterator[Incident]:
    """Lock the incident's row for one verb, check that the actor may see it, and yield it fresh.

    ``by``, ``from_outside``, ``beside`` and ``several`` are as in ``held``. ``since`` is the last event number that the
    person saw; ``clash`` are the kinds of later events that make their form stale. Raises ``NotThere`` and ``Stale``
    before anything is changed.
    """
    with transaction.atomic():
        now = held(incident, by=by, from_outside=from_outside, beside=beside, several=several)
        must_be_fresh(now, since=since, clash=clash)
        yield now


def must_be_fresh(incident: Incident, *, since: int | None, clash: Collection[str], **data: str | int) -> None:
    """Raise ``Stale`` if an event of a kind in ``clash`` came after ``since``, the last one that the person saw.

    ``data`` limits this to events whose data contains it.
    """
    if since is None or not clash:
        return
    newer = Event.objects.filter(incident=incident, n__gt=since, kind__in=clash, data__contains=data)
    if changes := list(newer.select_related("by").order_by("n")):
        raise Stale(changes)


def held(
    incident: Incident,
    *,
    by: Person | None,
    from_outside: bool = False,
    beside: Incident | None = None,
    several: bool = False,
) -> Incident:
    """Lock the incident's row in the caller's transaction, and return it fresh if the actor may see it.

    ``by=None`` is Firekind itself, or the terminal without a name. ``from_outside`` is for the few verbs that let in
    someone who may not see it yet. ``beside`` is another incident to lock with it, and ``several`` means that others
    may be locked later. Raises ``NotThere`` for a person who lost access while this waited for the lock.
    """
    if several or beside is not None:
        hold_several()
    _lock({one.pk for one in (incident, beside) if one is not None})
    return _seen(incident, by=None if from_outside else by)


def hold_several() -> None:
    """Serialise transactions that lock more than one incident: each waits here, before its first lock, for the others.

    Otherwise two could wait for each other: turning private also changes the duplicates, whatever their ids.
    """
    turns.take("incidents.lifecycle.several")


def must_see(incident: Incident, *, by: Person | None) -> None:
    """Raise ``NotThere`` unless the actor may see it: for code that asks a vendor before it takes the lock."""
    if by is not None and not visibility.may_see(by, incident):
        raise NotThere


def _lock(keys: Collection[int]) -> None:
    # No joins: a query that waits for the lock checks the newest row against old rows of other tables, and would not
    # find an incident whose type changed in the meantime.
    assert connection.in_atomic_block, "a lock lasts as long as its transaction"
    with connection.cursor() as cursor:
        cursor.execute(LOCK, [list(keys)])


def _seen(incident: Incident, *, by: Person | None) -> Incident:
    # A separate statement, so that it sees what was committed while this waited for the lock.
    found = visibility.one(visibility.OPERATOR if by is None else by, "i.id = %s", [incident.pk])
    if found is None:
        raise NotThere
    if by is not None:
        still_seen.note_held(found)
    return found


def save(incident: Incident, *fields: str) -> None:
    """Write the named fields as a new revision, and hint the workflows after the commit."""
    incident.revision += 1
    incident.traceparent = tracing.here()
    incident.save(update_fields=[*fields, "revision", "traceparent"])
    hints.tell(incident)


def take_room(incident: Incident) -> None:
    """Give people a room that has not been used yet, under a fresh codename; ``save`` writes it."""
    last = Codename.objects.filter(incident=incident).aggregate(room=Max("room"))["room"]
    incident.room = max(incident.room, last or 1) + 1  # it may be back in an earlier one
    incident.archive_asked = False
    codenames.fresh(room=incident.room, private=incident.private, incident_id=incident.pk, is_drill=incident.is_drill)


def must_be_active(incident: Incident, verb: str) -> None:
    """Raise ``Refused`` unless the incident is active."""
    if not incident.is_active:
        raise Refused(f"{incident.codename} is {incident.status}; reopen it before you {verb} it.")


def next_update_at(incident: Incident, *, at: datetime) -> datetime | None:
    """Return when the next status update is due by the policy, or None if it asks for none.

    It is a moment of the clock that all processes share.
    """
    every = incident.policy.update_every_min
    return clock.at(at) + timedelta(minutes=every) if every and incident.is_active else None


def title(text: str) -> str:
    """Return a cleaned title: one line of 1 to 200 characters. Raises ``BadInput`` for anything else."""
    said = " ".join(_clean(text).split())
    if not said:
        raise BadInput("title", "Describe what is wrong in a few words.")
    if len(said) > TITLE_CHARS:
        raise BadInput("title", f"A title has at most {TITLE_CHARS} characters; this one has {len(said)}.")
    return said


def short_title(said: str) -> tuple[str, str]:
    """Return a cleaned title, cut at a word if it is too long, and the whole text if it was cut, else an empty string.

    Nothing of a long title is lost: the caller puts the whole text at the start of the summary. Raises ``BadInput`` for
    an empty title, and for more text than fits there.
    """
    whole = " ".join(text(said, field="title", needed=False).split())
    if len(whole) <= TITLE_CHARS:
        return title(whole), ""
    begins = whole[: TITLE_CHARS - 1]
    word, space, _ = begins.rpartition(" ") if whole[TITLE_CHARS - 1] != " " else (begins, " ", "")
    return f"{(word if space else begins).rstrip()}…", whole


def is_long(said: str) -> bool:
    """Return whether a valid title is so long that it is cut."""
    return bool(short_title(said)[1])


def beginning(whole: str, summary: str) -> str:
    """Return a summary that begins with the whole of a cut title. Raises ``BadInput`` if they are too long together."""
    said = summary if summary.startswith(whole) else "\n\n".join(filter(None, (whole, summary)))
    return text(said, field="summary", needed=False)


def text(said: str, *, field: str = "text", needed: bool = True) -> str:
    """Return cleaned free text: without control characters, at most 10,000 characters.

    Raises ``BadInput`` for anything else.
    """
    said = _clean(said).strip()
    if needed and not said:
        raise BadInput(field, "Write something first.")
    if len(said) > TEXT_CHARS:
        raise BadInput(field, f"At most {TEXT_CHARS:,} characters; this has {len(said):,}.")
    return said


def names(services: Collection[str]) -> list[str]:
    """Return service names without duplicates, whitespace folded.

    Raises ``BadInput`` for more than 50 names, or one of more than 80 characters.
    """
    found = dict.fromkeys(name for service in services if (name := " ".join(service.split())))
    if any(len(name) > 80 for name in found):
        raise BadInput("services", "A service's name has at most 80 characters.")
    if len(found) > MOST_SERVICES:
        raise BadInput("services", f"An incident can name up to {MOST_SERVICES} services. You named {len(found)}.")
    return list(found)


def _clean(said: str) -> str:
    # PostgreSQL refuses NUL; other control characters would only confuse readers.
    return "".join(one for one in said if one in "\n\t" or unicodedata.category(one) not in {"Cc", "Cs"})


def _who(event: Event) -> str:
    person: Person | None = event.by
    return person.name if person else "Firekind"

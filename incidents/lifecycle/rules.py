"""What every verb shares: the lock, the stale form, the words people typed, and the errors they read."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.db import transaction

from incidents import kinds, told
from incidents.models import Event, Incident, Person

TITLE_CHARS = 200
TEXT_CHARS = 10_000


class Refused(Exception):
    """A verb was not carried out; the message says why and what to do, in the user's words."""


class BadInput(Refused):
    """What was typed cannot be used; ``field`` names where."""

    def __init__(self, field: str, says: str) -> None:
        super().__init__(says)
        self.field = field


class Stale(Refused):
    """The incident changed since the form was opened; ``changes`` are the events that matter."""

    def __init__(self, changes: list[Event]) -> None:
        said = "; ".join(
            f"{_who(event)} {kinds.sentence(event.kind, text=event.text, data=event.data)}" for event in changes
        )
        super().__init__(f"This changed while you were writing: {said}. Look again, then confirm.")
        self.changes = changes


@contextmanager
def changing(incident: Incident, *, since: int | None = None, clash: Collection[str] = ()) -> Iterator[Incident]:
    """Lock the incident's row for one verb and yield it fresh.

    ``since`` is the last event number that the person saw; ``clash`` the kinds of events after it that make their
    form stale. Raises ``Stale`` before anything is changed.
    """
    with transaction.atomic():
        now = (
            Incident.objects.select_for_update(of=("self",))
            .select_related("type", "policy_version", "lead", "declared_by")
            .get(pk=incident.pk)
        )
        if since is not None and clash:
            changes = list(
                Event.objects.filter(incident=now, n__gt=since, kind__in=clash).select_related("by").order_by("n")
            )
            if changes:
                raise Stale(changes)
        yield now


def save(incident: Incident, *fields: str) -> None:
    """Write the named fields as a new revision, and hint the workflows after the commit."""
    incident.revision += 1
    incident.save(update_fields=[*fields, "revision"])
    told.tell(incident)


def must_be_active(incident: Incident, verb: str) -> None:
    """Raise ``Refused`` unless people still respond."""
    if not incident.is_active:
        raise Refused(f"{incident.codename} is {incident.status}; reopen it before you {verb} it.")


def next_update_at(incident: Incident, *, at: datetime) -> datetime | None:
    """Return when the next status update is due by the policy, or None when no cadence is asked."""
    every = incident.policy.update_every_min
    return at + timedelta(minutes=every) if every and incident.is_active else None


def title(text: str) -> str:
    """Return a title fit to keep: one line of 1 to 200 characters."""
    said = " ".join(_clean(text).split())
    if not said:
        raise BadInput("title", "Say in a few words what is wrong.")
    if len(said) > TITLE_CHARS:
        raise BadInput("title", f"A title has at most {TITLE_CHARS} characters; this one has {len(said)}.")
    return said


def text(said: str, *, field: str = "text", needed: bool = True) -> str:
    """Return free text fit to keep: control characters out, at most 10,000 characters."""
    said = _clean(said).strip()
    if needed and not said:
        raise BadInput(field, "Write something first.")
    if len(said) > TEXT_CHARS:
        raise BadInput(field, f"At most {TEXT_CHARS:,} characters; this has {len(said):,}.")
    return said


def names(services: Collection[str]) -> list[str]:
    """Return service names each once, white space folded; at most 50 of 80 characters."""
    found = dict.fromkeys(name for service in services if (name := " ".join(service.split())))
    if any(len(name) > 80 for name in found):
        raise BadInput("services", "A service's name has at most 80 characters.")
    return list(found)[:50]


def _clean(said: str) -> str:
    # PostgreSQL refuses NUL; other control characters would only confuse readers.
    return "".join(one for one in said if one in "\n\t" or unicodedata.category(one) not in {"Cc", "Cs"})


def _who(event: Event) -> str:
    person: Person | None = event.by
    return person.name if person else "Firekind"

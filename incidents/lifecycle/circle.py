"""Who a type brings into an incident by name, at the moment it takes effect.

A private incident is a closed circle: its type's groups and schedules let people in at that moment and never again. Who
is in them is known in a higher layer, which registers its answer here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from incidents import timeline
from incidents.models import Event, Incident, Participant, Person
from incidents.people.bidi import isolated
from incidents.written_rows import WrittenInsert

CHOOSING: Final = ("chosen", "retyped")  # the kinds of entries that decide which choices hold
ENTER: Final = WrittenInsert(
    Participant,
    unique=["incident", "person"],
    update=["reason", "detail", "by", "since_at", "left_at", "went"],
)


@dataclass(frozen=True, slots=True)
class Entrant:
    """Someone a type brings in: ``reason`` and ``detail`` as stored, ``why`` in words."""

    person_id: int
    name: str
    reason: str
    detail: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class RoleChoice:
    """The person chosen for a role that takes exactly one."""

    role: str
    person_id: int
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Admission:
    """Everyone a type brings in now. ``is_known`` is false if the workspace's groups have never been read."""

    entries: tuple[Entrant, ...] = ()
    choices: tuple[RoleChoice, ...] = ()
    is_known: bool = True


answers: list[Callable[[Incident], Admission]] = []


def asked(incident: Incident) -> Admission:
    """Return who comes into this incident now, by its facts in the caller's transaction."""
    return answers[0](incident) if answers else Admission(is_known=False)


def admit(
    incident: Incident,
    admission: Admission,
    *,
    by: Person | None,
    at: datetime,
    source: str,
    kept: Iterable[Entrant] = (),
) -> None:
    """Let these people in, in the caller's transaction, which saves ``closed_at``.

    The timeline of a private incident lists who they are and why. ``kept`` are those who stay in as it closes to
    everyone else.
    """
    _enter(incident, admission.entries, at=at)
    for choice in admission.choices:
        _note_choice(incident, choice, at=at)
    if not incident.private:
        return
    kept = tuple(kept)
    if kept or admission.entries:
        text = _listed([*kept, *admission.entries])
        data = {"closing": bool(kept), "room": incident.room}
        timeline.append(incident, "admitted", at=at, by=by, source=source, text=text, data=data)
    incident.closed_at = at if admission.is_known else None


def _enter(incident: Incident, entries: Iterable[Entrant], *, at: datetime) -> None:
    """Record that these people take part from now on, by the type's policy."""
    ENTER.add(
        Participant(incident=incident, person_id=one.person_id, reason=one.reason, detail=one.detail[:120], since_at=at)
        for one in entries
    )


def _note_choice(incident: Incident, choice: RoleChoice, *, at: datetime) -> None:
    """Record who was chosen and why: they keep the role past the end of their shift."""
    data = {"role": choice.role, "person": choice.person_id, "why": choice.why, "room": incident.room}
    why = "on call now" if choice.why == f"on call for {choice.role}" else choice.why
    text = f"{isolated(choice.name)} is {choice.role}: {why}"
    timeline.append(incident, "chosen", at=at, text=text, data=data)


def choices(events: Iterable[Event]) -> list[Event]:
    """Return the choices for roles that hold, of an incident's ``CHOOSING`` entries in order.

    These are the ones made since the incident last closed to everyone else: a new channel for the same people changes
    no one's role.
    """
    events = list(events)
    since = max((one.n for one in events if one.kind == "retyped" and one.data.get("closed")), default=0)
    return [one for one in events if one.kind == "chosen" and one.n > since]


def staying(
    incident: Incident, *, by: Person | None, come: bool, bring: Collection[Person] = ()
) -> dict[Person, tuple[str, str]]:
    """Return who stays in as a public incident closes, each with the reason as stored and in words.

    These are the person who retypes it, unless they stay out; the lead; the declarer; and the people brought along.
    """
    reason = Participant.Reason
    asked = [
        (by if come else None, reason.RETYPED, "retyped it"),
        # The lead of a drill agreed to drills or joined by themselves; this reason holds even if they withdraw
        # agreement.
        (incident.lead, reason.JOINED if incident.is_drill else reason.LEAD, "leads"),
        (incident.declared_by, reason.DECLARED, "declared it"),
        *((person, reason.PICKED, f"brought in by {isolated(by.name)}" if by else "brought in") for person in bring),
    ]
    found: dict[Person, tuple[str, str]] = {}
    for person, kind, why in asked:
        if person is None or person.deactivated or person.is_bot or (person == by and not come):
            continue
        found.setdefault(person, (kind, why))
    return found


def _listed(entries: Iterable[Entrant]) -> str:
    """List who comes in, grouped by reason: *Sam, Sia (@security), Pat (on call for Platform leadership)*."""
    return ", ".join(by_why(entries))


def by_why(entries: Iterable[Entrant]) -> tuple[str, ...]:
    """Return one text for each reason: *Sam, Sia (@security)*."""
    names: dict[str, list[str]] = {}
    for one in entries:
        names.setdefault(one.why, []).append(isolated(one.name))
    return tuple(f"{', '.join(some)} ({why})" if why else ", ".join(some) for why, some in names.items())

"""Access to a private incident: requests, answers and break glass."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial

from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

import audit
from incidents import timeline, visibility
from incidents.claiming import leases
from incidents.claiming.shared_clock import clock
from incidents.drills import agreement
from incidents.lifecycle import misses, rules
from incidents.lifecycle.people import set_role, take_part
from incidents.models import AccessRequest, Codename, Event, Incident, Knock, Participant, Person, Source
from incidents.models.people import Role

EVERY = timedelta(minutes=15)
BECAUSE_CHARS = 1_000
WORDS_OF_A_SENTENCE = 4
AT_ONCE = 100
NOT_PRIVATE = (
    "No private incident has that codename. Check it and try again. This attempt was logged, and managers are notified."
)

# A single statement decides whether a person may ask again, so that two requests at once do not both count.
_KNOCK = """
    INSERT INTO incidents_knock AS known (person_id, at, codename, because) VALUES (%s, %s, %s, %s)
    ON CONFLICT (person_id) DO UPDATE
       SET at = excluded.at, codename = excluded.codename, because = excluded.because
     WHERE known.at <= %s OR known.at >= %s  -- of a clock that was ahead
 RETURNING id
"""


def ask_in(codename: str, *, person: Person, because: str, at: datetime) -> None:
    """Ask the people in the private incident with this codename, if there is one, to let someone in.

    The same row is written for any codename, and nothing is looked up here, so that neither the answer nor how long it
    takes reveals whether the incident exists. ``carry`` does the rest. Raises ``Refused`` for guests, and for anyone
    who asked less than fifteen minutes ago, even about something else. Raises ``BadInput`` without a reason.
    """
    if not person.can_join:
        raise rules.Refused(f"{person.kept_out} cannot request access. Ask someone you work with to bring you in.")
    because = _reason(because)
    now, named = clock.at(at), codename.strip().lower()[:80] or "-"
    with connection.cursor() as cursor:
        cursor.execute(_KNOCK, [person.pk, now, named, because, now - EVERY, now + EVERY])
        if cursor.fetchone() is None:
            raise rules.Refused(_too_soon(person, at=at))


def carry(*, at: datetime) -> int:
    """Deliver access requests to the people they are for, then forget their content; return how many were handled."""
    waiting = undelivered().select_related("person").order_by("at")
    return leases.hold_each(waiting, partial(_carry, at=at), at_once=AT_ONCE)


def undelivered() -> QuerySet[Knock]:
    """Return the access requests that have not been delivered yet."""
    return Knock.objects.exclude(codename="")


def let_in(incident: Incident, *, n: int, by: Person | None, at: datetime, source: str = Source.WEB) -> AccessRequest:
    """Let in the person who requested access in entry ``n``. The first answer counts.

    Raises ``Refused`` if the request was answered already, and for anyone who may not decide.
    """
    return _answer(incident, n=n, yes=True, by=by, at=at, source=source)


def turn_away(
    incident: Incident, *, n: int, by: Person | None, at: datetime, source: str = Source.WEB
) -> AccessRequest:
    """Answer *not now* to the access request in entry ``n``; the person is not notified.

    Raises ``Refused`` as ``let_in`` does.
    """
    return _answer(incident, n=n, yes=False, by=by, at=at, source=source)


def break_glass(codename: str, *, by: Person, because: str, at: datetime, source: str = Source.WEB) -> Incident:
    """Let someone from the workspace into a private incident immediately, and tell its people.

    They learn whether such an incident exists. Therefore each attempt is recorded, managers are told of each miss, and
    after five misses in an hour nothing is looked up any more. Raises ``Refused`` for auditors and guests, and for a
    codename without a private incident that is closed to them. Raises ``BadInput`` for a reason that is no sentence.
    """
    if by.role == Role.AUDITOR:
        raise rules.Refused("Auditors can read the audit log, but not private incidents. Ask a responder to look.")
    if not by.can_join:
        raise rules.Refused(f"{by.kept_out} cannot break glass. Ask someone you work with.")
    because = rules.text(because, field="because")
    if len(because.split()) < WORDS_OF_A_SENTENCE:
        raise rules.BadInput(
            "because", "Explain in a full sentence why you need access now. The people in the incident will read it."
        )
    incident = _looked_for(codename.strip().lower(), by=by, at=at)
    if incident is None:
        raise rules.Refused(NOT_PRIVATE)
    with rules.changing(incident, by=by, from_outside=True) as now:
        note("glass-broken", now.codename, by=by, at=at, found=True)
        take_part(now, by, reason=Participant.Reason.GLASS, by=None, at=at)
        timeline.append(now, "glass", at=at, by=by, source=source, text=because, data={"room": now.room})
        _settle(now, by, yes=True, by=by, at=at)
        rules.save(now)
    return now


def warn(incident: Incident, says: str, *, about: str, at: datetime) -> None:
    """Warn the people in an incident, once about each thing while they talk in the same room."""
    with rules.changing(incident, by=None) as now:
        data = {"about": about, "room": now.room}
        if not Event.objects.filter(incident=now, kind="warned", data__contains=data).exists():
            timeline.append(now, "warned", at=at, text=says, data=data)
            rules.save(now)


def waiting(incident: Incident) -> list[AccessRequest]:
    """Return the unanswered requests, the oldest first."""
    return list(
        AccessRequest.objects.filter(incident=incident, let_in=None).select_related("person").order_by("asked_at")
    )


def offer(incident: Incident, person: Person, says: str, *, rule: str, role: str, at: datetime) -> AccessRequest:
    """Ask the people in a closed incident whether to let in someone that a rule of its type now names.

    In the caller's transaction, which holds the incident's row.
    """
    data = {"name": person.name, "rule": rule, "role": role, "room": incident.room}
    event = timeline.append(incident, "offered", at=at, text=says, data=data)
    return AccessRequest.objects.create(
        incident=incident, person=person, because=says, rule=rule, role=role, asked_at=at, n=event.n
    )


def settle(request: AccessRequest, says: str, *, is_in: bool, at: datetime) -> None:
    """Close an unanswered request: the person is already in, or the rule no longer names them.

    In the caller's transaction, which holds the incident's row.
    """
    AccessRequest.objects.filter(pk=request.pk, let_in=None).update(let_in=is_in, answered_at=at)
    data = {"name": request.person.name, "request": request.n, "room": request.incident.room}
    timeline.append(request.incident, "request_over", at=at, text=says, data=data)


def note(kind: str, codename: str, *, by: Person | None, at: datetime, **data: object) -> None:
    """Record in the audit log what someone did about access; no person means the terminal."""
    audit.note(kind, by=by.pk if by else None, by_name=by.name if by else "", about=codename, data=data, at=at)


def must_take_part(incident: Incident, by: Person | None) -> None:
    """Raise ``Refused`` unless this person is from the workspace and takes part; None is the terminal, which may."""
    if by is None:
        return
    taking_part = Participant.objects.filter(incident=incident, person=by, left_at=None)
    if not (by.can_join and taking_part.exists()):
        raise rules.Refused("Only people from this workspace who are in the incident can decide this.")


def _carry(knock: Knock, *, at: datetime) -> None:
    incident = _closed_to(knock.person, knock.codename)
    if incident is not None and knock.person.can_join:
        _tell(incident, knock.person, knock.because, asked_at=knock.at, at=at)
    Knock.objects.filter(pk=knock.pk).update(codename="", because="")


@transaction.atomic
def _looked_for(codename: str, *, by: Person, at: datetime) -> Incident | None:
    """Return the private incident of a codename, or record a miss; raise ``TooManyMisses`` before looking."""
    misses.must_have_tries(by, at=at)
    incident = _closed_to(by, codename)
    if incident is None:
        misses.write(by, codename, at=at)
        note("glass-broken", codename[:80], by=by, at=at, found=False)
    return incident


def _closed_to(person: Person, codename: str) -> Incident | None:
    """Return the private incident of a codename if this person may not see it."""
    found = Incident.objects.filter(private=True, pk__in=Codename.objects.filter(name=codename).values("incident"))
    incident = found.first()
    return incident if incident is not None and not visibility.may_see(person, incident) else None


def _tell(incident: Incident, person: Person, because: str, *, asked_at: datetime, at: datetime) -> None:
    with rules.changing(incident, by=person, from_outside=True) as now:
        if AccessRequest.objects.filter(incident=now, person=person, let_in=None).exists():
            return  # its people were asked already and have not answered yet
        data = {"name": person.name, "room": now.room}
        event = timeline.append(now, "asked_in", at=asked_at, recorded_at=at, by=person, text=because, data=data)
        note("access-asked", now.codename, by=person, at=at)
        AccessRequest.objects.create(incident=now, person=person, because=because, asked_at=asked_at, n=event.n)
        rules.save(now)


def _answer(incident: Incident, *, n: int, yes: bool, by: Person | None, at: datetime, source: str) -> AccessRequest:
    with rules.changing(incident, by=by) as now:
        must_take_part(now, by)
        request = AccessRequest.objects.filter(incident=now, n=n).select_related("person", "answered_by").first()
        if request is None:
            raise rules.Refused("Access request not found.")
        if request.let_in is not None:
            raise rules.Refused(answered_already(request))
        if yes and not request.person.can_join:
            raise rules.Refused(f"{request.person.name} can no longer be brought in.")
        if yes:
            agreement.must_see_past(now, request.person)
            _let_in(now, request, by=by, at=at, source=source)
        _settle(now, request.person, yes=yes, by=by, at=at)
        data = {"name": request.person.name, "request": n, "rule": request.rule, "room": now.room}
        note("access-given" if yes else "access-refused", now.codename, by=by, at=at, person=request.person_id)
        timeline.append(now, "let_in" if yes else "turned_away", at=at, by=by, source=source, data=data)
        rules.save(now)
    request.let_in, request.answered_by, request.answered_at = yes, by, at
    return request


def _let_in(incident: Incident, request: AccessRequest, *, by: Person | None, at: datetime, source: str) -> None:
    take_part(incident, request.person, reason=Participant.Reason.LET_IN, detail=request.rule[:120], by=by, at=at)
    if request.role:
        set_role(incident, role=request.role, holder=request.person, by=by, at=at, source=source)


def _settle(incident: Incident, person: Person, *, yes: bool, by: Person | None, at: datetime) -> None:
    asked = AccessRequest.objects.filter(incident=incident, person=person, let_in=None)
    asked.update(let_in=yes, answered_by=by, answered_at=at)


def answered_already(request: AccessRequest) -> str:
    """Say who answered a request before, and how."""
    who = request.answered_by.name if request.answered_by else "The terminal"
    if request.answered_by is None and request.rule and not request.let_in:
        return f"{request.person.name} no longer qualifies for this. Bring them in by hand if you need them."
    if request.let_in:
        return f"{request.person.name} is already in: {who} answered first."
    return f"{who} already answered “not now”. Bring {request.person.name} in by hand if that was a mistake."


def _reason(because: str) -> str:
    because = rules.text(because, field="because", needed=False)
    if not because:
        raise rules.BadInput("because", "Say why in a few words. The people deciding will read them.")
    if len(because) > BECAUSE_CHARS:
        raise rules.BadInput("because", f"At most {BECAUSE_CHARS:,} characters; this has {len(because):,}.")
    return because


def _too_soon(person: Person, *, at: datetime) -> str:
    again = Knock.objects.get(person=person).at + EVERY
    minutes = max(1, -(-int((again - clock.at(at)).total_seconds()) // 60))
    unit = "minute" if minutes == 1 else "minutes"
    return (
        f"You requested access at {timezone.localtime(again - EVERY):%H:%M %Z}. You can send one request every 15 "
        f"minutes: try again in {minutes} {unit}."
    )

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from django.db.models import Q

from incidents import timeline
from incidents.lifecycle import rules
from incidents.models import Incident, Participant, Person, Source

Reason = Participant.Reason
BROUGHT = {Reason.GROUP, Reason.ONE_OF, Reason.JOINED, Reason.PAGED}


def set_lead(
    incident: Incident,
    *,
    lead: Person | None,
    by: Person | None,
    at: datetime,
    source: str = Source.WEB,
    since: int | None = None,
) -> Incident:
    """Make someone the lead, or leave the lead open with None."""
    with rules.changing(incident, since=since, clash={"led"}) as now:
        if now.lead_id == (lead.pk if lead else None):
            return now
        now.lead = lead
        if lead is not None:
            take_part(now, lead, reason=Reason.LEAD, at=at)
        data = {"name": lead.name if lead else "", "self": lead is not None and lead == by, "room": now.room}
        timeline.append(now, "led", at=at, by=by, source=source, data=data)
        rules.save(now, "lead")
    return now


def set_role(
    incident: Incident,
    *,
    role: str,
    holder: Person | None,
    by: Person | None,
    at: datetime,
    source: str = Source.WEB,
) -> Incident:
    """Give one of the policy's roles to someone, or leave it open with None."""
    role = rules.text(role, field="role")[:80]
    if role.casefold() == "lead":
        return set_lead(incident, lead=holder, by=by, at=at, source=source)
    with rules.changing(incident) as now:
        if now.role_holder_id(role) == (holder.pk if holder else None):
            return now
        now.roles = {key: value for key, value in now.roles.items() if key != role}
        if holder is not None:
            now.roles[role] = holder.pk
            take_part(now, holder, reason=Reason.ROLE, detail=role, at=at)
        data = {"role": role, "name": holder.name if holder else "", "room": now.room}
        timeline.append(now, "role", at=at, by=by, source=source, data=data)
        rules.save(now, "roles")
    return now


def bring_in(
    incident: Incident, *, people: Collection[Person], by: Person | None, at: datetime, source: str = Source.WEB
) -> Incident:
    """Bring people in by hand; a private incident opens to them."""
    with rules.changing(incident) as now:
        there = set(Participant.objects.filter(incident=now, left_at=None).values_list("person_id", flat=True))
        new = [person for person in people if person.pk not in there]
        if not new:
            return now
        for person in new:
            take_part(now, person, reason=Reason.PICKED, at=at)
        names = ", ".join(person.name for person in new)
        timeline.append(now, "brought", at=at, by=by, source=source, text=names, data={"room": now.room})
        rules.save(now)
    return now


def fill(
    incident: Incident, *, role: str, person: Person, by: Person | None, at: datetime, source: str = Source.WEB
) -> Incident:
    """Choose by hand who is the one of a role that the policy asks for, where nobody could be found.

    Raises ``Refused`` when the policy knows no such role, for somebody who cannot be brought in, and when somebody has
    it already.
    """
    with rules.changing(incident) as now:
        if role not in {one.role for one in now.policy.one_of}:
            raise rules.Refused(f"The type {now.policy.name} asks for no {role}.")
        if not person.can_join:
            raise rules.BadInput("person", f"{person.name} cannot be brought in: choose somebody of this workspace.")
        chosen = Participant.objects.filter(incident=now, reason=Reason.ONE_OF, detail=role, left_at=None)
        holder = Person.objects.filter(Q(pk=now.role_holder_id(role)) | Q(pk__in=chosen.values("person"))).first()
        if holder is not None and holder != person:
            raise rules.Refused(f"{holder.name} is {role} already.")
        return set_role(now, role=role, holder=person, by=by, at=at, source=source)


def joined(incident: Incident, *, person: Person, room: int, at: datetime, source: str = Source.SLACK) -> None:
    """Record that someone came to the room where people talk. Bots are not people.

    Coming to a room that the talk has left by now opens nothing: it may be public, and the new one private.
    """
    if person.is_bot:
        return
    with rules.changing(incident) as now:
        if now.room != room or Participant.objects.filter(incident=now, person=person, left_at=None).exists():
            return
        take_part(now, person, reason=Reason.JOINED, at=at)
        timeline.append(now, "joined", at=at, by=person, source=source, text=person.name, data={"room": now.room})
        rules.save(now)


def left(incident: Incident, *, person: Person, room: int, at: datetime, source: str = Source.SLACK) -> None:
    """Record that someone left, or was removed from, the room where people talk; they are not fetched back."""
    with rules.changing(incident) as now:
        taking_part = Participant.objects.filter(incident=now, person=person, left_at=None)
        if now.room != room or not taking_part.update(left_at=at, went=True):
            return
        timeline.append(now, "left", at=at, by=person, source=source, text=person.name, data={"room": now.room})
        rules.save(now)


def take_part(incident: Incident, person: Person, *, reason: str, at: datetime, detail: str = "") -> None:
    """Let someone take part, in the caller's transaction.

    Whoever is here for a reason of their own keeps it; being asked by name outweighs a group that may go.
    """
    known = Participant.objects.filter(incident=incident, person=person).first()
    if known is None:
        Participant.objects.create(incident=incident, person=person, reason=reason, detail=detail, since_at=at)
        return
    if known.left_at is not None:
        known.since_at = at
    if known.left_at is not None or known.reason in BROUGHT:
        known.reason, known.detail = reason, detail
    known.left_at, known.went = None, False
    known.save()

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from incidents import timeline
from incidents.drills import agreement
from incidents.lifecycle import circle, rules
from incidents.models import Event, Incident, Participant, Person, Source
from incidents.people.bidi import isolated

Reason = Participant.Reason
LASTING = {Reason.PICKED, Reason.LET_IN, Reason.JOINED, Reason.GLASS, Reason.RETYPED}  # hold as long as they stay


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
    with rules.changing(incident, by=by, since=since, clash={"led"}) as now:
        if now.lead_id == (lead.pk if lead else None):
            return now
        now.lead = lead
        if lead is not None:
            agreement.must_come(now, lead, by=by, field="lead")
            take_part(now, lead, reason=agreement.reason(now, lead, Reason.LEAD, by=by), by=by, at=at)
        data = {"name": lead.name if lead else "", "self": lead is not None and lead == by, "room": now.room}
        data |= {"owner": lead.pk} if lead is not None and lead != by else {}
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
    since: int | None = None,
) -> Incident:
    """Give one of the policy's roles to someone, or leave it open with None.

    Raises ``Stale`` if it was given to someone else after event ``since``.
    """
    role = rules.text(role, field="role")[:80]
    if role.casefold() == "lead":
        return set_lead(incident, lead=holder, by=by, at=at, source=source, since=since)
    with rules.changing(incident, by=by) as now:
        if now.role_holder_id(role) == (holder.pk if holder else None):
            return now
        rules.must_be_fresh(now, since=since, clash={"role"}, role=role)
        now.roles = {key: value for key, value in now.roles.items() if key != role}
        if holder is not None:
            now.roles[role] = holder.pk
            agreement.must_come(now, holder, by=by, field="person")
            reason = agreement.reason(now, holder, Reason.ROLE, by=by)
            take_part(now, holder, reason=reason, detail=role, by=by, at=at)
        data = {"role": role, "name": holder.name if holder else "", "room": now.room}
        data |= {"owner": holder.pk} if holder is not None and holder != by else {}
        timeline.append(now, "role", at=at, by=by, source=source, data=data)
        rules.save(now, "roles")
    return now


def bring_in(
    incident: Incident,
    *,
    people: Collection[Person],
    by: Person | None,
    at: datetime,
    source: str = Source.WEB,
    because: str = "",
) -> Incident:
    """Bring people in by name; a private incident opens to them.

    ``because`` says what brought them in if no one did it by hand: *acknowledged the page to Security*.
    """
    with rules.changing(incident, by=by) as now:
        there = set(Participant.objects.filter(incident=now, left_at=None).values_list("person_id", flat=True))
        new = [person for person in people if person.pk not in there]
        if not new:
            return now
        for person in new:
            agreement.must_come(now, person, by=by)
        for person in new:
            take_part(now, person, reason=Reason.PICKED, detail=because[:120], by=by, at=at)
        names = ", ".join(isolated(person.name) for person in new)
        data = {"room": now.room, "because": because}
        timeline.append(now, "brought", at=at, by=by, source=source, text=names, data=data)
        rules.save(now)
    return now


def fill(
    incident: Incident, *, role: str, person: Person, by: Person | None, at: datetime, source: str = Source.WEB
) -> Incident:
    """Choose by hand the person for a role that takes exactly one, if no one could be found for it.

    Raises ``Refused`` if the policy has no such role or someone already has it, ``BadInput`` for someone who cannot be
    brought in.
    """
    with rules.changing(incident, by=by) as now:
        if role not in {one.role for one in now.policy.one_of}:
            raise rules.Refused(f"The type {now.policy.name} has no {role} role.")
        if not person.can_join:
            raise rules.BadInput("person", f"{person.name} cannot be brought in: choose someone from this workspace.")
        holder = Person.objects.filter(pk=now.role_holder_id(role) or _chosen(now, role) or 0).first()
        if holder is not None and holder != person:
            raise rules.Refused(f"{holder.name} is already {role}.")
        return set_role(now, role=role, holder=person, by=by, at=at, source=source)


def _chosen(incident: Incident, role: str) -> int | None:
    """Return the person last chosen for a role, if that choice holds and they are still here."""
    found = Event.objects.filter(incident=incident, kind__in=circle.CHOOSING).order_by("n")
    chosen = [one.data["person"] for one in circle.choices(found) if one.data["role"] == role]
    here = Participant.objects.filter(incident=incident, left_at=None)
    return here.filter(person=chosen[-1]).values_list("person", flat=True).first() if chosen else None


def joined(
    incident: Incident,
    *,
    person: Person,
    room: int,
    inviter: Person | None,
    at: datetime,
    recorded_at: datetime | None = None,
    source: str = Source.SLACK,
) -> None:
    """Record that someone joined the room where people talk, and which member invited them, if known.

    Bots are ignored. Joining a room that the conversation has moved out of gives no access: that room may be public,
    and the new one private. ``recorded_at`` is the current time if this is reported late.
    """
    if person.is_bot:
        return
    with rules.changing(incident, by=person, from_outside=True) as now:
        if now.room != room or Participant.objects.filter(incident=now, person=person, left_at=None).exists():
            return
        take_part(now, person, reason=Reason.JOINED, by=inviter, at=at)
        said = inviter.name if inviter is not None else "a member" if now.private else ""
        data = {"room": now.room, "inviter": said}
        timeline.append(
            now, "joined", at=at, recorded_at=recorded_at, by=person, source=source, text=person.name, data=data
        )
        rules.save(now)


def left(
    incident: Incident,
    *,
    person: Person,
    room: int,
    at: datetime,
    recorded_at: datetime | None = None,
    source: str = Source.SLACK,
) -> None:
    """Record that someone left the room where people talk, or was removed from it; they are not invited back.

    ``recorded_at`` is the current time if this is reported late.
    """
    with rules.changing(incident, by=None) as now:
        taking_part = Participant.objects.filter(incident=now, person=person, left_at=None)
        if now.room != room or not taking_part.update(left_at=at, went=True):
            return
        data = {"room": now.room}
        timeline.append(
            now, "left", at=at, recorded_at=recorded_at, by=person, source=source, text=person.name, data=data
        )
        rules.save(now)


def take_part(
    incident: Incident, person: Person, *, reason: str, by: Person | None, at: datetime, detail: str = ""
) -> None:
    """Let someone take part, in the caller's transaction: ``by`` let them in.

    The reason a stay began is kept for as long as it lasts. Only a reason that can end on its own (a group, a page, a
    role) gives way to one that does not.
    """
    began = {"reason": reason, "detail": detail, "by": by, "left_at": None, "went": False}
    known = Participant.objects.filter(incident=incident, person=person).first()
    if known is None:
        Participant.objects.create(incident=incident, person=person, since_at=at, **began)
    elif known.left_at is not None:
        Participant.objects.filter(pk=known.pk).update(since_at=at, **began)
    elif reason in LASTING and known.reason not in LASTING:
        Participant.objects.filter(pk=known.pk).update(**began)

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from django.db.models import F

from incidents import sentences, timeline
from incidents.drills import agreement
from incidents.lifecycle import circle, rules, turned_private
from incidents.lifecycle.circle import Admission, Entrant
from incidents.lifecycle.people import take_part
from incidents.models import Incident, IncidentType, Participant, Person, PolicyVersion, Source
from incidents.people.bidi import isolated
from incidents.policies.policy import moves_room, private_after

TAKEN = (
    "type", "policy_version", "typed_at", "clear_at", "update_due_at", "private", "closed_at", "room", "lead", "roles",
    "archive_asked",
)  # fmt: skip


def retype(
    incident: Incident,
    *,
    to: IncidentType,
    by: Person | None,
    at: datetime,
    source: str = Source.WEB,
    because: str = "",
    bring: Collection[Person] = (),
    come: bool = True,
    admission: Admission | None = None,
    since: int | None = None,
    keep_room: bool = False,
    new_room: bool = False,
    changes: Collection[tuple[str, str, str, int]] | None = None,
) -> Incident:
    """Give the incident another type, effective everywhere immediately; workflows carry out the difference.

    A retype to a private type closes the incident, in the same transaction, to everyone but the actor (unless they do
    not ``come``), the lead, the declarer, ``bring``, and the people the type brings in at this moment. ``admission``
    names those, as the confirmed plan did; without it they are computed here. Roles held by others become open.
    ``keep_room`` means that the current room itself is made private, so that no new one is opened. ``new_room`` means
    that a new one is opened in any case, because the channel is gone. ``changes`` are the lines of the confirmed plan:
    sign, text, what each is about, and how many of that. Raises ``Stale`` if someone retyped it after event ``since``,
    and ``Refused`` if no one would be left in it.
    """
    because = rules.text(because, field="because", needed=False)
    several = to.current is not None and to.policy.private  # turning private also changes its duplicates and replays
    with rules.changing(incident, by=by, since=since, clash={"retyped"}, several=several) as now:
        rules.must_be_active(now, "retype")
        version = _usable(now, to)
        for person in bring:
            agreement.must_come(now, person, by=by, field="bring")
        before = now.policy
        moves = moves_room(now.private, version.policy)
        _take(now, to, version, at=at)
        kept: tuple[Entrant, ...] = ()
        if moves:
            kept = _close(now, by=by, come=come, bring=bring, at=at)
        if new_room or (moves and not keep_room):
            rules.take_room(now)
        for person in bring if not moves else ():  # as it closes, they are already among those who stay
            take_part(now, person, reason=Participant.Reason.PICKED, by=by, at=at)
        data = {
            "from": before.slug,
            "from_name": before.name,
            "to": to.slug,
            "to_name": version.policy.name,
            "room": now.room,
            "closed": moves,
            "stays_out": moves and not come and not _is_brought_in(by, admission),
            "colour": version.policy.colour,
            "revision": now.revision + 1,  # plans from this revision on belong to this retype or a later one
        } | ({} if changes is None else {"changes": [list(one) for one in changes]})
        timeline.append(now, "retyped", at=at, by=by, source=source, text=because, data=data)
        if now.private or admission is not None:
            now.closed_at = None
            found = circle.asked(now) if admission is None else admission
            circle.admit(now, found, by=by, at=at, source=source, kept=kept)
        if moves:
            _must_not_be_empty(now)
        rules.save(now, *TAKEN)
        if moves:
            turned_private.follow(now, at=at)
    return now


def may_retype(incident: Incident, to: IncidentType) -> bool:
    """Return whether this type would be a retype: another one, or its own if that has become private since.

    A public incident cannot adopt a version that is private, because people lose access: they must be shown the plan.
    """
    return to.pk != incident.type_id or (to.current is not None and moves_room(incident.private, to.policy))


def adopt(incident: Incident, *, by: Person | None, at: datetime, source: str = Source.WEB) -> Incident:
    """Take the newest version of the incident's own type, after its policy was edited.

    Raises ``Refused`` if that would make a public incident private: that is a retype, shown and confirmed.
    """
    with rules.changing(incident, by=by) as now:
        rules.must_be_active(now, "change")
        version = now.type.current
        if version is None or version.pk == now.policy_version_id:
            return now
        if moves_room(now.private, version.policy):
            raise rules.Refused(f"{now.codename} is public and the type is now private; retype it to move it.")
        now.policy_version = version
        now.update_due_at = rules.next_update_at(now, at=at)
        text = f"moved to version {version.number} of the type {version.policy.name}"
        timeline.append(now, "policy", at=at, by=by, source=source, text=text, data={"room": now.room})
        rules.save(now, "policy_version", "update_due_at")
    return now


def _usable(incident: Incident, to: IncidentType) -> PolicyVersion:
    if to.archived_at is not None or to.current is None:
        raise rules.Refused(f"The type {to.slug} is archived; choose another one.")
    if not may_retype(incident, to):
        raise rules.Refused(f"{incident.codename} is already {to.policy.name}.")
    return to.current


def _take(incident: Incident, to: IncidentType, version: PolicyVersion, *, at: datetime) -> None:
    incident.type = to
    incident.policy_version = version
    incident.typed_at = at
    if incident.clear_at is None and not to.is_default:
        incident.clear_at = at
    incident.update_due_at = rules.next_update_at(incident, at=at)


def leave_room(incident: Incident, *, room: int, opened_at: datetime | None = None) -> bool:
    """Move the conversation of a private incident to a new room, because this one is not private, or was not.

    Return whether it was still in that room. In the caller's transaction. No one comes in by this. With ``opened_at``,
    people who joined since then, while the room was open to everyone, lose access unless someone let them in.
    """
    with rules.changing(incident, by=None) as now:
        if not now.private or now.room != room:
            return False
        rules.take_room(now)
        if opened_at is not None:
            _shut_out_who_came_in(now, since=opened_at)
        rules.save(now, "room", "archive_asked")
    incident.room = now.room
    return True


def _shut_out_who_came_in(incident: Incident, *, since: datetime) -> None:
    """Remove people who joined a room while it was open to everyone, unless someone let them in."""
    here = Participant.objects.filter(incident=incident, left_at=None, since_at__gte=since)
    came = list(here.filter(reason=Participant.Reason.JOINED, by=None).select_related("person").order_by("pk"))
    if not came:
        return
    Participant.objects.filter(pk__in=[one.pk for one in came]).update(left_at=F("since_at"))
    names = sentences.enumerated([isolated(one.person.name) for one in came])
    text = f"{names} joined the channel while it was open to everyone. No one let them in, so they lost access."
    timeline.append(incident, "warned", at=since, text=text, data={"about": "opened", "room": incident.room})


def open_another_room(
    incident: Incident, *, room: int, by: Person | None, at: datetime, source: str = Source.WEB
) -> None:
    """Move the conversation to a new room, as private as the incident, because the channel of this one is gone.

    Raises ``Refused`` if it has moved already, or if the incident has ended.
    """
    with rules.changing(incident, by=by) as now:
        rules.must_be_active(now, "create a channel for")
        if now.room != room:
            raise rules.Refused("Someone else already created a new channel.")
        timeline.append(now, "did", at=at, by=by, source=source, text="requested a new channel")
        rules.take_room(now)
        rules.save(now, "room", "archive_asked")
    incident.room = now.room


def go_back_to_room(incident: Incident, *, room: int, at: datetime) -> None:
    """Move the conversation back to the room it had before, because its channel is reachable again.

    In the caller's transaction; no one comes in or leaves by this. If the channel was to be archived, this one is.
    """
    with rules.changing(incident, by=None) as now:
        text = "Back in the channel it used before in this Slack workspace"
        timeline.append(now, "channel", at=at, text=text)
        now.room = room
        rules.save(now, "room")
    incident.room = now.room


def _close(
    incident: Incident, *, by: Person | None, come: bool, bring: Collection[Person], at: datetime
) -> tuple[Entrant, ...]:
    incident.private = private_after(incident.private, incident.policy)
    kept = circle.staying(incident, by=by, come=come, bring=bring)
    ids = {one.pk for one in kept}
    if incident.lead_id not in ids:
        incident.lead = None
    incident.roles = {role: holder for role, holder in incident.roles.items() if holder in ids}
    # Leaving the public channel by hand said nothing about the private one, so everyone starts fresh there.
    Participant.objects.filter(incident=incident).update(left_at=at, went=False)
    for person, (reason, _) in kept.items():
        take_part(incident, person, reason=reason, by=by if reason == Participant.Reason.PICKED else None, at=at)
    return tuple(Entrant(person.pk, person.name, reason, "", why) for person, (reason, why) in kept.items())


def _is_brought_in(by: Person | None, admission: Admission | None) -> bool:
    """Return whether the type itself lets in the person who retyped it, even if they chose to stay out."""
    return by is not None and admission is not None and any(one.person_id == by.pk for one in admission.entries)


def _must_not_be_empty(incident: Incident) -> None:
    if not Participant.objects.filter(incident=incident, left_at=None).exists():
        raise rules.Refused("This would leave no one in it. Bring someone along, or come along yourself.")

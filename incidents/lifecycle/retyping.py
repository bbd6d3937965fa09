from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from incidents import codenames, timeline
from incidents.lifecycle import rules
from incidents.lifecycle.people import take_part
from incidents.models import Incident, IncidentType, Participant, Person, PolicyVersion, Source
from incidents.policy import moves_room, private_after

TAKEN = (
    "type", "policy_version", "typed_at", "clear_at", "update_due_at", "private", "room", "roles", "archive_asked",
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
    since: int | None = None,
    keep_room: bool = False,
) -> Incident:
    """Give the incident another type, at once for every surface; workflows carry out the difference.

    Towards a private type this closes it, in the same transaction, to everyone but the actor, the lead and
    ``bring``; roles that others hold are open again, and people of the new policy come in when the plan is carried
    out. ``keep_room`` says that the room where people talk is made private itself, so that none follows it. Raises
    ``Stale`` when someone retyped it after event ``since``.
    """
    because = rules.text(because, field="because", needed=False)
    with rules.changing(incident, since=since, clash={"retyped"}) as now:
        rules.must_be_active(now, "retype")
        version = _usable(now, to)
        before = now.policy
        moves = moves_room(now.private, version.policy)
        _take(now, to, version, at=at)
        if moves:
            _close(now, keep={by, now.lead, *bring}, at=at)
            if not keep_room:
                _take_room(now)
        _bring(now, bring, at=at)
        data = {
            "from": before.slug,
            "from_name": before.name,
            "to": to.slug,
            "to_name": version.policy.name,
            "room": now.room,
            "closed": moves,
        }
        timeline.append(now, "retyped", at=at, by=by, source=source, text=because, data=data)
        rules.save(now, *TAKEN)
    return now


def adopt(incident: Incident, *, by: Person | None, at: datetime, source: str = Source.WEB) -> Incident:
    """Take the newest version of the incident's own type, after its policy was edited.

    Raises ``Refused`` when that would make a public incident private: that is a retype, shown and confirmed.
    """
    with rules.changing(incident) as now:
        rules.must_be_active(now, "change")
        version = now.type.current
        if version is None or version.pk == now.policy_version_id:
            return now
        if moves_room(now.private, version.policy):
            raise rules.Refused(f"{now.codename} is public and the type is private now; retype it to move it.")
        now.policy_version = version
        now.update_due_at = rules.next_update_at(now, at=at)
        text = f"took version {version.number} of the type {version.policy.name}"
        timeline.append(now, "policy", at=at, by=by, source=source, text=text, data={"room": now.room})
        rules.save(now, "policy_version", "update_due_at")
    return now


def _usable(incident: Incident, to: IncidentType) -> PolicyVersion:
    if to.archived_at is not None or to.current is None:
        raise rules.Refused(f"The type {to.slug} is archived; pick another one.")
    if to.pk == incident.type_id:
        raise rules.Refused(f"{incident.codename} is {to.policy.name} already.")
    return to.current


def _take(incident: Incident, to: IncidentType, version: PolicyVersion, *, at: datetime) -> None:
    incident.type = to
    incident.policy_version = version
    incident.typed_at = at
    if incident.clear_at is None and not to.is_default:
        incident.clear_at = at
    incident.update_due_at = rules.next_update_at(incident, at=at)


def leave_room(incident: Incident, *, room: int) -> bool:
    """Let the talk of a private incident go on in a new room, because this one could not be made private.

    Tells whether it was still there. In the caller's transaction; nobody comes in or goes by it.
    """
    with rules.changing(incident) as now:
        if not now.private or now.room != room:
            return False
        _take_room(now)
        rules.save(now, "room", "archive_asked")
    incident.room = now.room
    return True


def _take_room(incident: Incident) -> None:
    incident.room += 1
    incident.archive_asked = False
    codenames.fresh(room=incident.room, private=True, incident_id=incident.pk)


def _close(incident: Incident, *, keep: set[Person | None], at: datetime) -> None:
    incident.private = private_after(incident.private, incident.policy)
    kept = {one.pk for one in keep if one}
    incident.roles = {role: holder for role, holder in incident.roles.items() if holder in kept}
    # Leaving the public channel by hand said nothing about the private one: everybody starts anew there.
    Participant.objects.filter(incident=incident).exclude(person__in=kept).update(left_at=at, went=False)


def _bring(incident: Incident, people: Collection[Person], *, at: datetime) -> None:
    for person in people:
        take_part(incident, person, reason=Participant.Reason.PICKED, at=at)

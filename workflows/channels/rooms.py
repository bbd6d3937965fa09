"""Which channel belongs to which incident, and what people did there by hand."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Final

from django.db import connection, transaction
from django.db.models import Q, QuerySet

from incidents import lifecycle, timeline, visibility
from incidents.lifecycle import rules
from incidents.models import Incident, Participant, Person, Source
from incidents.written_rows import WrittenRows
from workflows.channels import came_back
from workflows.effects import effect_queue, lost_channels
from workflows.effects.failing import failures, recovering
from workflows.models import Effect, MembersRead, Resource
from workflows.planning.actions import CREATE
from workflows.planning.observed import DELETED, GONE, THEIRS, THERE

REFUSED_OUTSIDE: Final = (lost_channels.OUTSIDE, lost_channels.OUTSIDE_TOO)
REFUSED_ARCHIVED: Final = ("is_archived", "is_inactive")
CHANNEL: Final = WrittenRows(Resource, of="r", beside={"incident": visibility.INCIDENT})
OF_CHANNEL: Final = f"""
    {visibility.WHOLE} JOIN workflows_resource r ON r.incident_id = i.id
    WHERE r.kind = 'channel' AND r.external_id = %s ORDER BY r.id LIMIT 1
"""
OUT_OF_REACH: Final = """
    SELECT 1 FROM workflows_resource r
     WHERE r.kind = 'channel' AND r.external_id = %s
       AND (r.state = 'gone' OR r.external ->> 'why' = 'outside' OR EXISTS (
           SELECT FROM workflows_effect e
            WHERE e.incident_id = r.incident_id AND e.room = r.room AND e.state = 'failed' AND e.error_code = ANY (%s)))
     LIMIT 1
"""
TOLD: Final = "told"  # under which a room keeps when it was told last what became of it, by the vendor's clock


def channel_row(channel_id: str) -> Resource | None:
    """Return what is known of a channel that is or was a room of an incident; the caller checks who may see it."""
    return CHANNEL.first(OF_CHANNEL, [channel_id])


def incident_of_channel(channel_id: str) -> Incident | None:
    """Return the incident whose current or former room this channel is; the caller checks who may see it."""
    room = channel_row(channel_id)
    return room.incident if room else None


def channel_of(incident: Incident) -> Resource | None:
    """Return the channel where people talk now, or None while there is none."""
    return Resource.objects.filter(incident=incident, key=f"channel/{incident.room}", state=THERE).first()


def last_channel_of(incident: Incident) -> Resource | None:
    """Return the channel where people talk now, or talked until it was gone."""
    return Resource.objects.filter(incident=incident, key=f"channel/{incident.room}").first()


def is_current(incident: Incident, channel_id: str) -> bool:
    """Return whether people of this incident talk in this channel now."""
    channel = channel_of(incident)
    return channel is not None and channel.external_id == channel_id


def joined(
    incident: Incident,
    *,
    person: Person,
    channel_id: str,
    at: datetime,
    inviter: Person | None = None,
    stamp: float = 0.0,
    recorded_at: datetime | None = None,
) -> None:
    """Note that someone is in the room, whether we invited them or a member did: ``inviter``, where that is known.

    ``recorded_at`` is now, where it is told late. ``stamp`` is when it was, in seconds by the vendor's clock, where
    that is known: what is older than what was last told of them is not news. A join that is told late must let nobody
    in who left since.
    """
    now = rules.held(incident, by=None)
    _take_in(now, person, channel_id, at=at, inviter=inviter, stamp=stamp, recorded_at=recorded_at)


def came(
    incident: Incident,
    *,
    person: Person,
    channel_id: str,
    at: datetime,
    inviter: Person | None = None,
    stamp: float = 0.0,
    recorded_at: datetime | None = None,
) -> None:
    """Note that someone came into the room, as the vendor tells it.

    Into a private incident comes whom somebody who takes part invited, once its channel is known to be private.
    Everyone else may have come while the channel was open to all: it is read next, before anyone is let in by it.
    """
    now = rules.held(incident, by=None)  # it may have turned private since it was read
    if now.private and not _is_let_in(now, channel_id, by=inviter):
        MembersRead.objects.filter(channel__external_id=channel_id).delete()
        return
    _take_in(now, person, channel_id, at=at, inviter=inviter, stamp=stamp, recorded_at=recorded_at)


def _take_in(
    held: Incident,
    person: Person,
    channel_id: str,
    *,
    at: datetime,
    inviter: Person | None,
    stamp: float,
    recorded_at: datetime | None,
) -> None:
    """Note that someone is in the room, unless newer news were written down while this waited for the incident."""
    if not is_current(held, channel_id) or _is_old(held, person, stamp=stamp):
        return
    _note_member(held, person, THERE, at=at, stamp=stamp)
    lifecycle.joined(held, person=person, room=held.room, inviter=inviter, at=at, recorded_at=recorded_at)


def _is_let_in(incident: Incident, channel_id: str, *, by: Person | None) -> bool:
    """Return whether an invitation lets someone into a private incident: into a private channel, by one of its people.

    The incident stays held, so that both hold until whoever is let in is written down.
    """
    closed = Resource.objects.filter(incident=incident, kind="channel", external_id=channel_id, spec__private=True)
    inviter = Participant.objects.filter(incident=incident, person=by, left_at=None)
    return by is not None and closed.exists() and inviter.exists()


def left(
    incident: Incident,
    *,
    person: Person,
    channel_id: str,
    at: datetime,
    stamp: float = 0.0,
    recorded_at: datetime | None = None,
) -> None:
    """Note that someone left the room or was removed by hand: workflows do not fetch them back."""
    now = rules.held(incident, by=None)
    if not is_current(now, channel_id) or _is_old(now, person, stamp=stamp):
        return
    _note_member(now, person, GONE, at=at, stamp=stamp)
    lifecycle.left(now, person=person, room=now.room, at=at, recorded_at=recorded_at)


def deleted(channel_id: str, *, at: datetime) -> None:
    """Note that a person deleted a room's channel, which is not fought: another is made once somebody asks for it.

    Of a room where people respond that is said as something missing; of any other it is an entry and no more.
    """
    room = channel_row(channel_id)
    if room is None or not lost_channels.note(room.incident_id, room=room.room or 1, why=DELETED):
        return
    incident = room.incident
    if not incident.is_active or room.room != incident.room:
        which = "" if room.room == incident.room else "the old channel "
        says = f"{which}{room.label} was deleted in Slack"
        lifecycle.remark(incident, "channel", text=f"{says[0].upper()}{says[1:]}", by=None, at=at, source=Source.SLACK)


def thrown_out(channel_id: str, *, is_shown: bool = True, stamp: float) -> None:
    """Note that we were removed from a channel, unless we have come back since: plans say what cannot be done there.

    One that is not shown to us any more may be gone as well. In the caller's transaction.
    """
    room = channel_row(channel_id)
    if room is not None and _is_newest(room, "inside", stamp=stamp):
        lost_channels.note_outside(room.incident_id, room=room.room or 1, is_shown=is_shown)


def in_sight(channel_id: str, *, at: datetime, stamp: float = 0.0) -> None:
    """Note that we are in a channel, which may have been out of sight, and try again what we could not do outside."""
    room = channel_row(channel_id)
    if room is None:
        return
    with transaction.atomic():
        if not _is_newest(room, "inside", stamp=stamp):
            return
        lost_channels.restore(room.incident_id, room=room.room or 1)
        failures.retry_all(_refused(room, REFUSED_OUTSIDE), at=at)


def within_reach(channel_id: str, *, inside: bool, archived: bool, at: datetime) -> bool:
    """Note that a channel is shown to us, and try again what it refused for what is over; return whether that was news.

    ``inside`` says that we are in it. What was refused several times in the same words has another reason, such as
    bookmarks that a workspace has closed, and is left to people. In the caller's transaction, in which the incident
    stays held.
    """
    room = channel_row(channel_id)
    if room is None:
        return False
    refused = (*(REFUSED_OUTSIDE if inside else ()), *(() if archived else REFUSED_ARCHIVED))
    was_gone = lost_channels.restore(room.incident_id, room=room.room or 1, inside=inside)
    if not inside and not archived:
        was_gone = lost_channels.note_outside(room.incident_id, room=room.room or 1) or was_gone
    return failures.retry_all(_refused(room, refused).exclude(recovering.LEFT_TO_PEOPLE), at=at) > 0 or was_gone


def _refused(room: Resource, codes: Collection[str]) -> QuerySet[Effect]:
    failed = Effect.objects.filter(incident=room.incident_id, room=room.room, state=Effect.State.FAILED)
    return failed.filter(error_code__in=codes).order_by("pk")


def was_out_of_reach(channel_id: str, *, refused: Collection[str] = REFUSED_OUTSIDE) -> bool:
    """Return whether a room's channel was gone for us, or refused something, as it says it, because we were not in."""
    with connection.cursor() as cursor:
        cursor.execute(OUT_OF_REACH, [channel_id, [*refused]])
        return cursor.fetchone() is not None


def is_lost(incident: Incident) -> bool:
    """Return whether the channel where people talked is gone."""
    return Resource.objects.filter(incident=incident, key=f"channel/{incident.room}", state=GONE).exists()


def open_another(incident: Incident, *, by: Person | None, at: datetime, source: str = Source.WEB) -> None:
    """Have a new channel made in place of one that is gone; a private one stays private. Raises ``Refused``."""
    with transaction.atomic():
        now = rules.held(incident, by=by)
        if not is_lost(now):
            raise lifecycle.Refused(f"{now.codename} has a channel, or one is being created.")
        lifecycle.open_another_room(now, room=now.room, by=by, at=at, source=source)


def archived_by_hand(channel_id: str, *, archived: bool, at: datetime, stamp: float = 0.0) -> bool:
    """Note that a person archived a room, or brought an archived one back; return whether that is how it is now."""
    room = channel_row(channel_id)
    if room is None or not _is_newest(room, "archived", stamp=stamp) or room.external.get("why") == DELETED:
        return False
    incident, known = room.incident, Resource.objects.filter(incident=room.incident, key=f"archived/{room.room}")
    was_archived = known.filter(state=THERE).exists()
    if not archived and (was_archived or stamp) and room.room == incident.room:
        came_back.forget_members(room)
    if not (archived or was_archived):
        return False
    effect_queue.plan_anew(incident.pk)  # what is missing now, or no longer
    if archived:
        lost_channels.note_archived(incident.pk, room=room.room or 1, at=at)
    elif room.room == incident.room:
        known.delete()
        lifecycle.unarchived(incident)
    else:
        known.update(state=THEIRS)
    return True


def archived_by_us(channel_id: str, *, at: datetime, stamp: float) -> None:
    """Note when we archived a room: that somebody had brought it back before is no news any more, though told later."""
    room = channel_row(channel_id)
    if room is None or not _is_newest(room, "archived", stamp=stamp):
        return
    key, under_way = f"archived/{room.room}", [Effect.State.WAITING, Effect.State.RUNNING]
    known = Resource.objects.filter(incident=room.incident, key=key, state=THERE)
    records = Effect.objects.filter(incident=room.incident, thing=key, verb=CREATE, state__in=under_way)
    if not (known.exists() or records.exists()):
        lost_channels.note_archived(room.incident_id, room=room.room or 1, at=at)
        effect_queue.plan_anew(room.incident_id)


def converted(channel_id: str, *, public: bool, stamp: float = 0.0) -> bool:
    """Note that a person opened a room to everyone, or closed it; return whether that is how it is now.

    What is private is not said in an open one: the conversation of a private incident leaves it for a new private
    channel, and takes its words along. One that we are to close is not known as closed by that: whoever came in while
    it was open is looked for first, as the step that closes it does.
    """
    room = channel_row(channel_id)
    opened_at = datetime.fromtimestamp(stamp, tz=UTC) if public and stamp else None
    if room is None:
        return False
    if not _is_newest(room, "private", stamp=stamp):
        if opened_at is not None:
            _leave_as_it_was_open(room, since=opened_at)
        return False
    if not public and (_is_being_closed(room) or _is_to_be_closed(room)):
        return False
    room.spec = {**room.spec, "private": not public}
    room.save(update_fields=["spec"])
    if public:
        Resource.objects.filter(incident=room.incident_id, key=f"closed/{room.room}").update(state=GONE)
    effect_queue.plan_anew(room.incident_id)
    if public:
        lifecycle.leave_room(room.incident, room=room.room or 1, opened_at=opened_at)
    return True


def _leave_as_it_was_open(room: Resource, *, since: datetime) -> None:
    """Leave a room that is private again, and that was open for a while, as is told late: anybody may have come in.

    One that we closed ourselves after that is not left: whoever was in it was looked for.
    """
    closed = Resource.objects.filter(incident=room.incident_id, key=f"closed/{room.room}", state=THERE)
    if not room.spec.get("private") or closed.filter(since_at__gte=since).exists():
        return
    if lifecycle.leave_room(room.incident, room=room.room or 1, opened_at=since):
        effect_queue.plan_anew(room.incident_id)


def _is_being_closed(room: Resource) -> bool:
    """Return whether we are closing a room just now: that is recorded once nobody is in it who may not be."""
    running = Effect.objects.filter(incident=room.incident_id, kind="closed", room=room.room)
    return running.filter(state=Effect.State.RUNNING).exists()


def _is_to_be_closed(room: Resource) -> bool:
    """Return whether people talk in a room that their incident's turning private found open; the incident is held."""
    talks_there = Incident.objects.filter(pk=room.incident_id, private=True, room=room.room or 1)
    return not room.spec.get("private") and talks_there.exists()


def is_being_ended(room: Resource) -> bool:
    """Return whether we are closing or archiving a room just now, or may have."""
    ends = Effect.objects.filter(incident=room.incident_id, kind__in=["closed", "archived"], room=room.room)
    return ends.filter(Q(state=Effect.State.RUNNING) | Q(state=Effect.State.WAITING, unsure=True)).exists()


def renamed(channel_id: str, *, name: str, new_id: str = "", stamp: float = 0.0) -> None:
    """Follow a channel's new name, and its new id where the vendor changed that."""
    for room in Resource.objects.filter(kind__in=["channel", "outlet"], external_id=channel_id):
        if not _is_newest(room, "id" if new_id else "name", stamp=stamp):
            continue
        room.external |= {"name": name or room.external.get("name", ""), "id": new_id or channel_id}
        room.external_id = new_id or channel_id
        room.label = f"#{room.external['name']}"
        room.external["url"] = _moved(str(room.external.get("url", "")), channel_id, room.external_id)
        room.save(update_fields=["external", "external_id", "label"])
    if new_id and new_id != channel_id:
        _follow(channel_id, new_id)


def called(channel: Resource, name: str) -> None:
    """Follow the name that a look found, unless an event brought another one since ``channel`` was read."""
    known = channel.external.get("name")
    if not name or name == known:
        return
    with transaction.atomic():
        timeline.hold(channel.incident_id)
        if Resource.objects.filter(pk=channel.pk, external__name=known, external_id=channel.external_id).exists():
            renamed(channel.external_id, name=name)


def _follow(old: str, new: str) -> None:
    """Let messages of ours be found where they stand now."""
    for post in Resource.objects.filter(external__channel_id=old):
        post.external |= {"channel_id": new, "url": _moved(str(post.external.get("url", "")), old, new)}
        post.save(update_fields=["external"])


def _moved(url: str, old: str, new: str) -> str:
    return url.replace(f"/{old}", f"/{new}")


def _is_newest(room: Resource, what: str, *, stamp: float) -> bool:
    """Return whether nothing newer was told of a room in one respect, and note when this was; the room is read anew.

    The vendor tells things in any order. ``stamp`` is when it was by its clock, 0 where that is not known. In the
    caller's transaction, in which the incident stays held.
    """
    timeline.hold(room.incident_id)
    room.refresh_from_db(fields=["spec", "external", "external_id", "label", "state"])
    told = dict(room.external.get(TOLD, {}))
    if stamp and stamp < told.get(what, 0.0):
        return False
    if stamp:
        room.external |= {TOLD: told | {what: stamp}}
        room.save(update_fields=["external"])
    return True


def _is_old(incident: Incident, person: Person, *, stamp: float) -> bool:
    told = Resource.objects.filter(incident=incident, key=_member(incident, person), external__moved__gt=stamp)
    return stamp > 0 and told.exists()


def _member(incident: Incident, person: Person) -> str:
    return f"member/{incident.room}/{person.chat_id}"


def _note_member(incident: Incident, person: Person, state: str, *, at: datetime, stamp: float) -> None:
    values = {
        "kind": "member",
        "room": incident.room,
        "label": person.name,
        "spec": {"room": incident.room, "person": person.chat_id} | ({"app": True} if person.is_bot else {}),
        "state": state,
        **({"external": {"moved": stamp}} if stamp else {}),
    }
    key = _member(incident, person)
    Resource.objects.update_or_create(
        incident=incident, key=key, defaults=values, create_defaults=values | {"since_at": at}
    )

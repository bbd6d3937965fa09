"""Which channel belongs to which incident, and what people did in Slack by hand."""

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
from workflows.effects.failing import failures, left_to_people
from workflows.models import Effect, MembersRead, Resource
from workflows.planning.actions import CREATE
from workflows.planning.observed import DELETED, GONE, THEIRS, THERE

REFUSED_OUTSIDE: Final = (lost_channels.OUTSIDE, lost_channels.OUTSIDE_TOO)
REFUSED_ARCHIVED: Final = (lost_channels.IS_ARCHIVED, "is_inactive")
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
TOLD: Final = "told"  # the key under which a room stores when it last heard each kind of news, by the vendor's clock


def channel_row(channel_id: str) -> Resource | None:
    """Return the row of a channel that is or was a room of an incident; the caller checks who may see it."""
    return CHANNEL.first(OF_CHANNEL, [channel_id])


def incident_of_channel(channel_id: str) -> Incident | None:
    """Return the incident whose current or former room this channel is; the caller checks who may see it."""
    room = channel_row(channel_id)
    return room.incident if room else None


def channel_of(incident: Incident) -> Resource | None:
    """Return the incident's current channel, or None if there is none."""
    return Resource.objects.filter(incident=incident, key=f"channel/{incident.room}", state=THERE).first()


def last_channel_of(incident: Incident) -> Resource | None:
    """Return the incident's current channel, or its last one if that is gone."""
    return Resource.objects.filter(incident=incident, key=f"channel/{incident.room}").first()


def is_current(incident: Incident, channel_id: str) -> bool:
    """Return whether this is the incident's current channel."""
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
    """Record that someone is in the room, invited by us or by the member ``inviter``, if known.

    ``recorded_at`` is now, for news that arrives late. ``stamp`` is when it happened, in seconds by the vendor's clock,
    if known: anything older than the last news about this person is ignored. A join that is reported late must not let
    in someone who has left since.
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
    """Record that someone joined the room, as the vendor reports it.

    Joining a private incident's channel gives access only on a participant's invitation, once the channel is known to
    be private. Anyone else may have joined while it was open to all, so it is read before anyone is let in.
    """
    now = rules.held(incident, by=None)  # it may have become private since it was read
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
    """Record that someone is in the room, unless newer news was recorded while this waited for the lock."""
    if not is_current(held, channel_id) or _is_old(held, person, stamp=stamp):
        return
    _note_member(held, person, THERE, at=at, stamp=stamp)
    lifecycle.joined(held, person=person, room=held.room, inviter=inviter, at=at, recorded_at=recorded_at)


def _is_let_in(incident: Incident, channel_id: str, *, by: Person | None) -> bool:
    """Return whether an invitation gives access to a private incident: into a private channel, by a participant.

    The incident stays locked, so that both still hold when the access is recorded.
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
    """Record that someone left the room or was removed by hand; workflows do not invite them again."""
    now = rules.held(incident, by=None)
    if not is_current(now, channel_id) or _is_old(now, person, stamp=stamp):
        return
    _note_member(now, person, GONE, at=at, stamp=stamp)
    lifecycle.left(now, person=person, room=now.room, at=at, recorded_at=recorded_at)


def deleted(channel_id: str, *, at: datetime) -> None:
    """Record that a person deleted a room's channel. We do not fight it: a new one is made when someone asks for it.

    For the current room, this is shown as missing; for any other it is just a timeline entry.
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
    """Record that we were removed from a channel, unless we have rejoined since.

    Plans then say what cannot be done there. A channel that we can't see may also be gone. In the caller's transaction.
    """
    room = channel_row(channel_id)
    if room is not None and _is_newest(room, "inside", stamp=stamp):
        lost_channels.note_outside(room.incident_id, room=room.room or 1, is_shown=is_shown)


def in_sight(channel_id: str, *, at: datetime, stamp: float = 0.0) -> None:
    """Record that we are in a channel that may have been out of sight, and retry what failed while we were outside."""
    room = channel_row(channel_id)
    if room is None:
        return
    with transaction.atomic():
        if not _is_newest(room, "inside", stamp=stamp):
            return
        lost_channels.restore(room.incident_id, room=room.room or 1)
        failures.retry_all(_refused(room, REFUSED_OUTSIDE), at=at)


def within_reach(channel_id: str, *, inside: bool, archived: bool, at: datetime) -> bool:
    """Record that we can see a channel, and retry what it refused for reasons that are over; return if it was news.

    ``inside`` says that we are in it. A step that was refused several times with the same error has another cause, such
    as a workspace that disables bookmarks, and is left to people. Runs in the caller's transaction, which holds the
    incident.
    """
    room = channel_row(channel_id)
    if room is None:
        return False
    refused = (*(REFUSED_OUTSIDE if inside else ()), *(() if archived else REFUSED_ARCHIVED))
    was_gone = lost_channels.restore(room.incident_id, room=room.room or 1, inside=inside)
    if not inside and not archived:
        was_gone = lost_channels.note_outside(room.incident_id, room=room.room or 1) or was_gone
    return failures.retry_all(_refused(room, refused).exclude(left_to_people.LEFT_TO_PEOPLE), at=at) > 0 or was_gone


def _refused(room: Resource, codes: Collection[str]) -> QuerySet[Effect]:
    failed = Effect.objects.filter(incident=room.incident_id, room=room.room, state=Effect.State.FAILED)
    return failed.filter(error_code__in=codes).order_by("pk")


def was_out_of_reach(channel_id: str, *, refused: Collection[str] = REFUSED_OUTSIDE) -> bool:
    """Return whether a room's channel was gone for us, or refused something because we were outside."""
    with connection.cursor() as cursor:
        cursor.execute(OUT_OF_REACH, [channel_id, [*refused]])
        return cursor.fetchone() is not None


def is_lost(incident: Incident) -> bool:
    """Return whether the incident's current channel is gone."""
    return Resource.objects.filter(incident=incident, key=f"channel/{incident.room}", state=GONE).exists()


def open_another(incident: Incident, *, by: Person | None, at: datetime, source: str = Source.WEB) -> None:
    """Have a new channel made to replace one that is gone; private stays private. Raises ``Refused``."""
    with transaction.atomic():
        now = rules.held(incident, by=by)
        if not is_lost(now):
            raise lifecycle.Refused(f"{now.codename} has a channel, or one is being created.")
        lifecycle.open_another_room(now, room=now.room, by=by, at=at, source=source)


def archived_by_hand(channel_id: str, *, archived: bool, at: datetime, stamp: float = 0.0) -> bool:
    """Record that a person archived or unarchived a room; return whether that is its state now."""
    room = channel_row(channel_id)
    if room is None or not _is_newest(room, "archived", stamp=stamp) or room.external.get("why") == DELETED:
        return False
    incident, known = room.incident, Resource.objects.filter(incident=room.incident, key=f"archived/{room.room}")
    was_archived = known.filter(state=THERE).exists()
    if not archived and (was_archived or stamp) and room.room == incident.room:
        came_back.forget_members(room)
    if not (archived or was_archived):
        return False
    effect_queue.replan(incident.pk)  # what is missing has changed
    if archived:
        lost_channels.note_archived(incident.pk, room=room.room or 1, at=at)
    elif room.room == incident.room:
        known.delete()
        lifecycle.unarchived(incident)
    else:
        known.update(state=THEIRS)
    return True


def archived_by_us(channel_id: str, *, at: datetime, stamp: float) -> None:
    """Record when we archived a room, so that late news of an earlier unarchiving counts as old."""
    room = channel_row(channel_id)
    if room is None or not _is_newest(room, "archived", stamp=stamp):
        return
    key, under_way = f"archived/{room.room}", [Effect.State.WAITING, Effect.State.RUNNING]
    known = Resource.objects.filter(incident=room.incident, key=key, state=THERE)
    records = Effect.objects.filter(incident=room.incident, thing=key, verb=CREATE, state__in=under_way)
    if not (known.exists() or records.exists()):
        lost_channels.note_archived(room.incident_id, room=room.room or 1, at=at)
        effect_queue.replan(room.incident_id)


def converted(channel_id: str, *, public: bool, stamp: float = 0.0) -> bool:
    """Record that a person made a room public or private; return whether that is its state now.

    Private matters are not discussed in a public channel: a private incident's conversation moves to a new private
    channel and takes its words along. If we still have to close this channel, a person's closing it does not count as
    closed: people who joined while it was open are looked for first, as the step that closes it does.
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
    effect_queue.replan(room.incident_id)
    if public:
        lifecycle.leave_room(room.incident, room=room.room or 1, opened_at=opened_at)
    return True


def _leave_as_it_was_open(room: Resource, *, since: datetime) -> None:
    """Leave a room that is private again but was open for a while, as late news says: anyone may have joined.

    If we closed it ourselves after that, we stay: everyone in it was checked then.
    """
    closed = Resource.objects.filter(incident=room.incident_id, key=f"closed/{room.room}", state=THERE)
    if not room.spec.get("private") or closed.filter(since_at__gte=since).exists():
        return
    if lifecycle.leave_room(room.incident, room=room.room or 1, opened_at=since):
        effect_queue.replan(room.incident_id)


def _is_being_closed(room: Resource) -> bool:
    """Return whether we are closing a room right now: that is recorded once no one is in it who may not be."""
    running = Effect.objects.filter(incident=room.incident_id, kind="closed", room=room.room)
    return running.filter(state=Effect.State.RUNNING).exists()


def _is_to_be_closed(room: Resource) -> bool:
    """Return whether this is the current room and still open after its incident became private; it is locked."""
    talks_there = Incident.objects.filter(pk=room.incident_id, private=True, room=room.room or 1)
    return not room.spec.get("private") and talks_there.exists()


def is_being_ended(room: Resource) -> bool:
    """Return whether we are closing or archiving a room right now, or may have done so."""
    ends = Effect.objects.filter(incident=room.incident_id, kind__in=["closed", "archived"], room=room.room)
    return ends.filter(Q(state=Effect.State.RUNNING) | Q(state=Effect.State.WAITING, unsure=True)).exists()


def renamed(channel_id: str, *, name: str, new_id: str = "", stamp: float = 0.0) -> None:
    """Record a channel's new name, and its new id if the vendor changed that."""
    for room in Resource.rooms([channel_id]):
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
    """Record the name that a poll found, unless an event brought another since ``channel`` was read."""
    known = channel.external.get("name")
    if not name or name == known:
        return
    with transaction.atomic():
        timeline.hold(channel.incident_id)
        if Resource.objects.filter(pk=channel.pk, external__name=known, external_id=channel.external_id).exists():
            renamed(channel.external_id, name=name)


def _follow(old: str, new: str) -> None:
    """Point messages of ours at the channel's new id."""
    for post in Resource.objects.filter(external__channel_id=old):
        post.external |= {"channel_id": new, "url": _moved(str(post.external.get("url", "")), old, new)}
        post.save(update_fields=["external"])


def _moved(url: str, old: str, new: str) -> str:
    return url.replace(f"/{old}", f"/{new}")


def _is_newest(room: Resource, what: str, *, stamp: float) -> bool:
    """Return whether this is the newest news of one kind about a room, and store when it happened; rereads the room.

    The vendor delivers events in any order. ``stamp`` is when it happened by the vendor's clock, 0 if unknown. Runs in
    the caller's transaction, which holds the incident.
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

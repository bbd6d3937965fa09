"""Which workspace the chat is in. Ids of channels, messages and people are valid only there.

When another workspace is connected, resources of the previous one are out of reach: they are not asked for, and each
incident says what that means for it. When the previous one is connected again, everything continues in its place.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final
from weakref import WeakKeyDictionary

from django.db import connection, transaction
from django.db.models import Exists, F, Max, OuterRef, Q

from incidents import lifecycle, timeline
from incidents.claiming.recent import Pause
from incidents.claiming.shared_clock import clock
from incidents.lifecycle import rules
from incidents.models import Incident, Person
from workflows.chat_port import Chat
from workflows.effects.failing import failures
from workflows.models import DirectoryRead, Effect, Resource
from workflows.planning.actions import CREATE, KINDS
from workflows.planning.observed import ELSEWHERE, GONE, IN_WORKSPACE, THERE
from workflows.ports import VendorError
from workflows.usergroups import workspace_cache

log = logging.getLogger(__name__)

CHAT: Final = tuple(name for name, kind in KINDS.items() if kind.port == "chat")
LOOKS: Final = 5  # channels to look up, to see whether our ids are valid here after all
BACK_AT_ONCE: Final = 20  # incidents whose earlier channel is checked at a time: each takes a call or two
IN_DOUBT: Final = (
    "It may have been posted in the Slack workspace that was connected before. If so, delete it there by hand. Retry "
    "posts it in this one."
)
LEAVE: Final = """
    UPDATE workflows_resource
    SET state = 'gone', external = external || jsonb_build_object('why', 'elsewhere', 'workspace', %s::text)
    WHERE (kind IN ('channel', 'outlet') OR (kind = 'post' AND room IS NULL))
      AND (state = 'there' OR (state = 'gone' AND external ->> 'why' = 'unseen'))
"""
COME_BACK: Final = """
    UPDATE workflows_resource SET state = 'there', external = external - 'why' - 'workspace'
    WHERE state = 'gone' AND external ->> 'why' = 'elsewhere' AND external ->> 'workspace' = %s
"""

# Selects rows of incidents that are over and public, of which there may be hundreds of thousands. It selects none once
# another process has recorded a different workspace.
OVER: Final = """
    AND EXISTS (SELECT FROM workflows_directoryread WHERE workspace = %s)
    AND id BETWEEN %s AND %s AND incident_id IN (SELECT id FROM incidents_incident WHERE NOT active AND NOT private)
"""
AT_ONCE: Final = 10_000  # rows considered by one statement
PAUSE_S: Final = 15  # until a workspace that gave no answer is asked again, unless it says how long

_pauses: Final[WeakKeyDictionary[Chat, Pause]] = WeakKeyDictionary()
_following = threading.Lock()


def is_followed(chat: Chat) -> bool:
    """Return whether the chat is known to be in the workspace that our ids belong to. Calls no vendor."""
    if chat not in workspace_cache.followed and chat.is_introduced and _before() in {None, chat.workspace_id}:
        workspace_cache.followed.add(chat)
    return chat in workspace_cache.followed


def follow(chat: Chat, *, at: datetime) -> bool:
    """Record which workspace the chat is in; return whether owed effects may be performed there.

    They may not while a different workspace is connected and its consequences are not settled, nor while another thread
    is checking. That can take as long as reading the whole directory.
    """
    if is_followed(chat):
        return True
    pause = _pauses.get(chat)
    if (pause is not None and pause.lasts(at=at)) or not _following.acquire(blocking=False):
        return False
    try:
        return _follow(chat, at=at)
    except VendorError as error:
        log.warning("could not look at the workspace that is connected now: %s", error)
        _pauses[chat] = Pause(at, at + timedelta(seconds=error.retry_after or PAUSE_S))
        return False
    finally:
        _following.release()


def _follow(chat: Chat, *, at: datetime) -> bool:
    try:
        now = chat.workspace_id
    except VendorError:
        return True  # everything else asked now is refused too, and says why
    before = _before()
    if before is not None and before != now:
        _arrive(chat, before=before, now=now, at=at)
    if is_followed(chat) and Resource.objects.filter(_stands_in(now)).exists():
        _note_of_past(COME_BACK, now)
    return is_followed(chat)


def _before() -> str | None:
    """Return the workspace that our ids belong to; None if none was ever read."""
    return DirectoryRead.objects.values_list("workspace", flat=True).first()


def _arrive(chat: Chat, *, before: str, now: str, at: datetime) -> None:
    """Record a different workspace; its people are read first, so that no one is looked up by an old id."""
    is_another = bool(before) and not _knows_ours(chat)
    if not is_another:
        DirectoryRead.objects.filter(workspace=before).update(workspace=now)
        return
    workspace_cache.refresh(at=at, everybody=True, another=True)
    back = {room.incident_id: room for room in _earlier_rooms(now) if _is_fit(chat, room)}
    _note_of_past(LEAVE, before)
    with transaction.atomic():
        rules.hold_several()
        touched = Incident.objects.filter(Q(active=True) | Q(private=True) | Q(pk__in=back))
        rows = touched.select_for_update(no_key=True).order_by("pk")  # before locking their effects
        held = list(rows.values_list("pk", flat=True))
        if not DirectoryRead.objects.filter(workspace=before).update(workspace=now):
            return
        log.warning("another workspace is connected than before: what stands in that one is left alone")
        _doubt(before, at=at)
        with connection.cursor() as cursor:
            cursor.execute(LEAVE, [before])
            cursor.execute(f"{COME_BACK} AND incident_id = ANY(%s)", [now, held])
        _go_back(back, at=at)
        doubted = Effect.objects.filter(state=Effect.State.FAILED, error_code=code(now))
        doubted.update(**failures.from_the_start(at))
        Effect.objects.filter(state=Effect.State.WAITING, unsure=True, kind__in=CHAT).update(due_at=clock.at(at))
        touched.update(revision=F("revision") + 1)


def _note_of_past(statement: str, workspace: str) -> None:
    """Update rows of incidents that are over and public, in batches, before or after all others.

    No one waits for them. If this is interrupted, the next process that asks the chat for the first time finishes it.
    """
    last = Resource.objects.aggregate(last=Max("pk"))["last"] or 0
    for first in range(0, last + 1, AT_ONCE):
        with connection.cursor() as cursor:
            cursor.execute(f"{statement} {OVER}", [workspace, workspace, first, first + AT_ONCE - 1])


def _stands_in(workspace: str) -> Q:
    """Select what is recorded as being in a workspace that was not connected."""
    return Q(state=GONE, external__why=ELSEWHERE, external__workspace=workspace)


def _knows_ours(chat: Chat) -> bool:
    """Return whether we can see channels of ours here: a workspace that joined an organisation keeps them.

    Several are tried, because one may be shared between two workspaces.
    """
    rooms = Resource.objects.filter(kind="channel", state=THERE)
    ids = rooms.order_by(F("incident__active").desc(), "incident__private", "-pk").values_list("external_id", flat=True)
    seen = [chat.look(id) is not None for id in ids[:LOOKS]]
    return sum(seen) * 2 > len(seen)


def _earlier_rooms(now: str) -> list[Resource]:
    """Return the last room of each incident in the connected workspace, if the incident has since moved elsewhere."""
    away = Resource.objects.filter(Q(state=THERE) | Q(state=GONE, external__why=ELSEWHERE), kind="channel")
    current = away.filter(incident=OuterRef("incident"), room=OuterRef("incident__room"))
    rooms = away.filter(_stands_in(now), Exists(current)).exclude(room=F("incident__room"))
    rooms = rooms.filter(Q(incident__private=False) | Q(spec__private=True))
    known = rooms.select_related("incident").defer("incident__words").order_by("-incident__active", "-incident", "room")
    return list({room.incident_id: room for room in known}.values())[:BACK_AT_ONCE]


def _is_fit(chat: Chat, room: Resource) -> bool:
    """Return whether the conversation may continue in a room; False if we are refused a look.

    A transient error is raised instead, and everything else waits until the chat answers.
    """
    try:
        return _may_go_back(chat, room)
    except VendorError as error:
        if error.retryable:
            raise
        log.warning("could not look at an earlier channel, so no one goes back to it: %s", error)
        return False


def _may_go_back(chat: Chat, room: Resource) -> bool:
    """Return whether the conversation may continue in a room: it is in use, and no one reads it who must not.

    In a private incident, that is anyone who no longer takes part.
    """
    found = chat.look(room.external_id)
    if found is None or found.archived:
        return False
    if not room.incident.private:
        return True
    people = Person.objects.filter(Q(is_bot=True) | Q(takes_part__incident=room.incident, takes_part__left_at=None))
    return found.private and chat.members(room.external_id) <= {chat.self_id, *people.values_list("chat_id", flat=True)}


def _go_back(rooms: Mapping[int, Resource], *, at: datetime) -> None:
    """Move conversations back to where they were, except those that moved elsewhere or became private meanwhile."""
    for incident in Incident.objects.filter(pk__in=rooms).defer("words"):
        room = rooms[incident.pk]
        if (incident.room, incident.private) == (room.incident.room, room.incident.private):
            lifecycle.go_back_to_room(incident, room=room.room or 1, at=at)


def _doubt(before: str, *, at: datetime) -> None:
    """Leave announcements that may have been posted there to people, until someone can look for them."""
    begun = Q(state=Effect.State.RUNNING) | Q(state__in=[Effect.State.WAITING, Effect.State.FAILED], unsure=True)
    announced = Effect.objects.filter(begun, kind="post", verb=CREATE, room=None)
    for effect in announced.exclude(error_code__startswith=IN_WORKSPACE).order_by("incident", "pk"):
        timeline.hold(effect.incident_id)
        error = VendorError(IN_DOUBT, code=code(before), method=effect.method, looking=True)
        failures.leave_in_doubt(effect, error, at=at)


def code(workspace: str) -> str:
    """Return the error code for what may have been done in a workspace that is no longer connected."""
    return f"{IN_WORKSPACE}{workspace}"

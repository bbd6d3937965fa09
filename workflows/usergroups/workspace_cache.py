"""The cache of the workspace's people and groups, and how it is refreshed."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from weakref import WeakSet

from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone

from incidents import lifecycle
from incidents.claiming import turns
from incidents.claiming.glance import Moment, Sql
from incidents.claiming.recent import is_recent
from incidents.claiming.shared_clock import clock
from incidents.models import Participant, Person
from incidents.people import person_matching
from workflows import chat_port, ports
from workflows.models import DirectoryRead, Group
from workflows.planning.invitee import Invitee
from workflows.usergroups import absent_groups, group_membership
from workflows.usergroups.absent_groups import ReadGroups

log = logging.getLogger(__name__)

PEOPLE_EVERY = timedelta(minutes=15)  # reading everyone takes many calls in a large workspace
SAID = ("chat_id", "name", "members", "channels")  # of a group
GROUPS_EVERY = timedelta(seconds=60)  # reading the groups takes one


followed: Final[WeakSet[chat_port.Chat]] = WeakSet()  # chats whose workspace was the one our ids belong to

NOT_OLD: Final = "SELECT 1 FROM workflows_directoryread WHERE NOT stale"
FOLLOW = """
    UPDATE workflows_resource r
    SET key = regexp_replace(r.key, '[^/]+$', moved.now), spec = jsonb_set(r.spec, '{person}', to_jsonb(moved.now))
    FROM unnest(%s::text[], %s::text[]) AS moved(before, now)
    WHERE r.kind = 'member' AND r.spec ->> 'person' = moved.before AND NOT EXISTS (
        SELECT FROM workflows_resource other
        WHERE other.incident_id = r.incident_id AND other.key = regexp_replace(r.key, '[^/]+$', moved.now))
"""

OF_HANDLES = """
    SELECT g.handle, g.members, EXISTS (SELECT FROM workflows_grouprule r WHERE r.handle = g.handle AND r.active)
      FROM workflows_group g WHERE g.handle = ANY (%s)
"""


def members(handles: Collection[str]) -> Mapping[str, tuple[Invitee, ...] | None]:
    """Return for each handle the members who may be invited; None for a group that does not exist.

    If a rule says who belongs in a group, those count as its members, whether they are in it yet or not. Empty before
    the workspace was first read, when no groups are known.
    """
    if not handles:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(OF_HANDLES, [list(handles)])
        groups = {handle: (members, ruled) for handle, members, ruled in cursor.fetchall()}
    if not groups and never_read():
        return {}
    ruled = {handle for handle, (_, is_ruled) in groups.items() if is_ruled}
    inside = {handle: members for handle, (members, _) in groups.items()}
    inside |= group_membership.members(ruled, at=timezone.now())
    ids = {chat_id for members in inside.values() for chat_id in members}
    known = {person.chat_id: person for person in person_matching.with_chat_ids(ids) if person.can_join}
    return {handle: _someones(handle, inside[handle], known) if handle in groups else None for handle in handles}


def _someones(handle: str, inside: Iterable[str], known: Mapping[str | None, Person]) -> tuple[Invitee, ...]:
    able = [known[chat_id] for chat_id in inside if chat_id in known]
    return tuple(Invitee(person.chat_id or "", person.name, f"@{handle}", person.pk, handle) for person in able)


def never_read() -> bool:
    """Return whether the workspace was never read, so that groups cannot be expanded yet."""
    return not DirectoryRead.objects.exists()


def known_old(_: Moment) -> Sql:
    """Return the statement that checks ``is_known_old``."""
    return Sql(f"SELECT WHERE NOT EXISTS ({NOT_OLD})", {})


def is_known_old() -> bool:
    """Return whether the workspace was never read, or reported a change since."""
    with connection.cursor() as cursor:
        cursor.execute(NOT_OLD)
        return cursor.fetchone() is None


def mark_stale() -> None:
    """Record that groups changed, so that the next look reads them again."""
    DirectoryRead.objects.update(stale=True)


def is_old(*, at: datetime, than: timedelta = GROUPS_EVERY) -> bool:
    """Return whether the workspace was never read, or not since ``than``, or is known to have changed."""
    read = DirectoryRead.objects.first()
    return read is None or read.stale or not is_recent(read.groups_at, at=clock.at(at), within=than)


def refresh(*, at: datetime | None = None, everybody: bool = False, another: bool = False) -> bool:
    """Read the workspace's groups, and its people if that is due; return whether anything changed.

    People are read on request, when they were not read for a while, or when a group names someone unknown. Calls the
    vendor outside any transaction; raises ``VendorError``. Anything another process has read while our request was
    under way is newer and stays; anything reported as changed meanwhile is read again. For a workspace other than
    before (``another``), people who are not in it are recorded as such.
    """
    chat, at = ports.chat(), at or timezone.now()
    if chat is None:
        return False
    if not another and _is_of_before(chat):
        log.warning("another workspace is connected since this process was started: restart it")
        return False
    with _mark_taken() as mark:
        read = DirectoryRead.objects.first()
        said = absent_groups.read(chat)
        groups = list(said.in_use)
        named = {chat_id for group in groups for chat_id in group.members}
        unknown = named - set(Person.objects.filter(chat_id__in=named).values_list("chat_id", flat=True))
        workspace = chat.workspace_id if read is None else ""
        due = (
            read is None
            or everybody
            or bool(unknown)
            or not is_recent(read.people_at, at=clock.at(at), within=PEOPLE_EVERY)
        )
        before = person_matching.recorded() if due else {}
        known = list(chat.people()) if due else None
        with transaction.atomic():
            _alone()
            now = DirectoryRead.objects.first()
            if known is not None and (now and now.people_at) == (read and read.people_at):
                told = _told_of(known, before)
                _follow(person_matching.follow(known, told=told))
                newer = (one for one in known if one.chat_id not in told)
                _record([*newer, *(strangers := _strangers(unknown, known))])
                person_matching.disown(known, told=told)
                if another:
                    person_matching.unlist([*known, *strangers], told=told)
            else:
                known = None
            mark.is_done = (now and now.groups_at) == (read and read.groups_at)
            changed = mark.is_done and _write(groups)
            _note_read(at, groups=said if mark.is_done else None, people=known is not None, workspace=workspace)
        return changed or known is not None


def _is_of_before(chat: chat_port.Chat) -> bool:
    """Return whether a chat is in a previously connected workspace, because this process was not restarted yet.

    What it reads about people would revert their ids.
    """
    connected = DirectoryRead.objects.values_list("workspace", flat=True).first()
    if not (connected and chat.is_introduced):
        return False
    if connected == chat.workspace_id:
        followed.add(chat)
        return False
    return chat in followed


def _follow(ids: Mapping[str, str]) -> None:
    """Give channel members their new ids in our records."""
    if ids:
        log.info("%s people have other ids in the workspace now", len(ids))
        with connection.cursor() as cursor:
            cursor.execute(FOLLOW, [list(ids.keys()), list(ids.values())])


@dataclass(slots=True)
class _Mark:
    """The workspace's mark that it changed, as taken by a reader; it is put back unless the reading completes."""

    was_there: bool
    is_done: bool = False


@contextmanager
def _mark_taken() -> Iterator[_Mark]:
    """Take the mark before the vendor is asked: one that is set from then on stays."""
    mark = _Mark(bool(DirectoryRead.objects.filter(stale=True).update(stale=False)))
    try:
        yield mark
    finally:
        if mark.was_there and not mark.is_done:
            mark_stale()


def _note_read(at: datetime, *, groups: ReadGroups | None, people: bool, workspace: str) -> None:
    at = clock.at(at)
    read: dict[str, object] = {"people_at": at} if people else {}
    if groups is not None:
        read |= {"groups_at": at, "disabled": [*groups.disabled], "groupless": groups.groupless}
    if read:
        fresh = {"groups_at": at, "people_at": at, "stale": False, "workspace": workspace}
        DirectoryRead.objects.update_or_create(pk=1, defaults=read, create_defaults=fresh | read)


def note(one: person_matching.ChatProfile) -> None:
    """Store what the workspace reported about one person, without reading everyone again."""
    with transaction.atomic():
        _alone()
        _record([one])


def _record(known: list[person_matching.ChatProfile]) -> None:
    """Store what the workspace says about people; someone who returns is not let into anything closed by that.

    Slack removed their account from every channel. If it is in one all the same, the next look lets them in.
    """
    here = [one.chat_id for one in known if not one.deactivated]
    gone = set(Person.objects.filter(deactivated=True, chat_id__in=here).values_list("chat_id", flat=True))
    back = [one for one in here if one in gone]
    person_matching.record(known)
    if back:
        _come_back(back)


def _come_back(chat_ids: Collection[str]) -> None:
    closed = Q(incident__private=True) | Q(person__is_guest=True) | Q(person__is_external=True)
    stays = Participant.objects.filter(closed, person__chat_id__in=chat_ids, left_at=None)
    for stay in stays.select_related("incident", "person").defer("incident__words").order_by("incident"):
        lifecycle.left(stay.incident, person=stay.person, room=stay.incident.room, at=timezone.now())


def _told_of(known: Iterable[person_matching.ChatProfile], before: Mapping[str, tuple[object, ...]]) -> set[str]:
    """Return the ids of people with newer news that arrived while everyone was read: they left, or joined."""
    listed, now = {one.chat_id for one in known}, person_matching.recorded()
    changed = {id for id, said in now.items() if before.get(id) != said}
    return {id for id in changed if id in before or id not in listed}


def _strangers(
    unknown: Collection[str], known: Collection[person_matching.ChatProfile]
) -> list[person_matching.ChatProfile]:
    """Return people a group names but the workspace does not list: they are external and not invited.

    If they were left out, they would be looked up again and again, each time by reading everyone.
    """
    listed = {one.chat_id for one in known}
    return [
        person_matching.ChatProfile(chat_id, chat_id, is_external=True) for chat_id in sorted(set(unknown) - listed)
    ]


def _alone() -> None:
    """Let readers of the workspace write one after the other."""
    turns.take("workflows.usergroups.workspace_cache")


def _write(groups: list[chat_port.UserGroup]) -> bool:
    before = {(g.handle, g.chat_id, g.name, tuple(g.members), tuple(g.channels)) for g in Group.objects.all()}
    after = {(one.handle, one.chat_id, one.name, one.members, one.channels) for one in groups}
    if before == after:
        return False
    Group.objects.exclude(handle__in=[one.handle for one in groups]).delete()
    rows = [
        Group(handle=one.handle, chat_id=one.chat_id, name=one.name, members=[*one.members], channels=[*one.channels])
        for one in groups
    ]
    Group.objects.bulk_create(rows, update_conflicts=True, unique_fields=["handle"], update_fields=SAID)
    return True

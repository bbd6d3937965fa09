"""Read who is in the channels of incidents from the vendor, in case an event was lost: of private ones above all.

What follows is what the events would have brought: who is not in the channel of a private incident any more loses
access, who is in gains it.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from incidents import lifecycle, timeline
from incidents.claiming import rotation
from incidents.claiming.recent import recently
from incidents.claiming.shared_clock import clock
from incidents.models import Incident, Participant, Person
from incidents.people import person_matching
from workflows import ports
from workflows.channels import room_news, rooms
from workflows.chat_port import Chat
from workflows.effects import lost_channels, restoring
from workflows.models import Limit, MembersRead, OlderRead, Resource
from workflows.planning.observed import GONE, THERE, UNSEEN
from workflows.ports import VendorError
from workflows.usergroups import workspace_cache

log = logging.getLogger(__name__)

METHOD = "conversations.members"
EVERY_S = 45
AT_MOST = 55  # channels at a time: Slack accepts about a hundred of these calls a minute
LOOKS = 20  # of them, in turn, whose privacy is looked at although nobody came: Slack accepts about fifty a minute
NOT_AGAIN = timedelta(seconds=30)
OLDER = 5  # of those of private incidents that ended long ago beside them
PUBLIC = 10  # of public ones beside them
PATIENCE = 3  # calls without an answer, before the others wait for the next look
LATELY = timedelta(days=7)  # the channel of an incident that ended longer ago has its turn among all of these
GRACE = timedelta(seconds=15)  # for an invitation to arrive everywhere
AHEAD = timedelta(minutes=5)  # the clock of another host may be; one that is further off will not hold this up
# One that we were not shown may be shown to us again, and no event say so.
IN_REACH = Q(state=THERE) | Q(state=GONE, external__why=UNSEEN)
BLIND = "Firekind is no longer in the channel, so it cannot see who leaves and posts nothing there. Invite it again."


def poll(*, at: datetime) -> int:
    """Compare channels of private incidents with who takes part, those read longest ago first; return how many.

    One call a channel. Stops at a rate limit, which holds for everyone, and while the vendor is away.
    """
    chat = ports.chat()
    if chat is None or _is_limited(at):
        return 0
    due = _due(at=at)
    turn = rotation.in_turn(sorted(one.pk for one in due), at_once=LOOKS, every_s=EVERY_S, at=at)
    return _look_at(chat, due, at=at, asks={*turn})


def poll_older(*, at: datetime) -> int:
    """Compare the channels of a few private incidents that ended long ago, in turn; return how many.

    However many there are, as many are read: somebody may be removed from one years later.
    """
    chat = ports.chat()
    if chat is None or _is_limited(at):
        return 0
    older = _older(at=at)
    return _look_at(chat, older, at=at, asks={one.pk for one in older})


def read_all(*, at: datetime) -> int:
    """Compare every channel, however lately it was read, and return how many private ones the vendor did not tell of.

    Those of active public incidents as well, as far as it tells; the rest of them have their turn.
    """
    MembersRead.objects.all().delete()
    left = _rows(at=at).count()
    while done := poll(at=at):
        left -= done
    if not left:
        poll_public(at=at, at_once=None)
    return left


def poll_public(*, at: datetime, at_once: int | None = PUBLIC) -> None:
    """Compare channels of public incidents that go on, in turn; after the database was put back, first of all of them.

    Each is read twice then: soon, and when nothing that was noted before may seem to have just been done, whatever a
    clock said. Stops at a rate limit and while the vendor is away; whatever it did not tell of has its turn again.
    """
    chat = ports.chat()
    if chat is None or _is_limited(at):
        return
    waiting, left = _unread_public(at=at) or _ids(_public()), PATIENCE
    for pk in rotation.in_turn(waiting, at_once=at_once or max(len(waiting), 1), every_s=EVERY_S, at=at):
        channel = Resource.objects.select_related("incident").defer("incident__words").get(pk=pk)
        before = _read(channel)
        try:
            members = chat.members(channel.external_id)
        except VendorError as error:
            if _is_gone(error, channel, at=at):
                _note_read(channel, at=at)
            elif error.retry_after is not None or not (left := left - 1):
                return
            continue
        left = PATIENCE
        if _sees(chat, channel, members, at=at):
            _follow(channel, members, before, _read(channel), at=at)
        _note_read(channel, at=at)


def _public() -> QuerySet[Resource]:
    """Return those to compare; none that is archived, in which the vendor may keep nobody."""
    archived = Resource.objects.filter(
        incident=OuterRef("incident"), kind="archived", room=OuterRef("room"), state=THERE
    )
    rows = Resource.objects.filter(IN_REACH, ~Exists(archived), kind="channel", room=F("incident__room"))
    return rows.filter(incident__private=False, incident__active=True)


def _unread_public(*, at: datetime) -> list[int]:
    """Return those that were not read since the database was put back, while there are any."""
    put_back = restoring.put_back_at(restoring.lost_since(at=at))
    if put_back is None:
        return []
    settled = put_back + AHEAD + GRACE
    since = settled if clock.at(at) >= settled else put_back
    rows = _public().filter(incident__declared_at__lt=put_back + AHEAD)
    return _ids(rows.exclude(members_read__at__gte=since))


def _ids(rows: QuerySet[Resource]) -> list[int]:
    return list(rows.order_by("pk").values_list("pk", flat=True))


def _note_read(channel: Resource, *, at: datetime) -> None:
    MembersRead.objects.update_or_create(channel=channel, defaults={"at": clock.at(at)})


def _is_limited(at: datetime) -> bool:
    return Limit.objects.filter(method=METHOD, blocked_until__gt=clock.at(at)).exists()


def _due(*, at: datetime) -> list[Resource]:
    rows = _rows(at=at).exclude(recently("members_read__at", at=clock.at(at), within=NOT_AGAIN))
    oldest = F("members_read__at").asc(nulls_first=True)
    return list(rows.select_related("incident").defer("incident__words").order_by(oldest, "pk")[:AT_MOST])


def _rows(*, at: datetime) -> QuerySet[Resource]:
    rows = Resource.objects.filter(IN_REACH, kind="channel", incident__private=True, room=F("incident__room"))
    return rows.filter(Q(incident__ended_at=None) | Q(incident__ended_at__gte=at - LATELY))


def _older(*, at: datetime) -> list[Resource]:
    """Return the channels of the next few private incidents that ended long ago, and note that it is their turn.

    They go from the latest to the first, and around: a list of all of them would be longer each year.
    """
    ended = Incident.objects.filter(private=True, ended_at__lt=at - LATELY).order_by("-ended_at", "-pk")
    following, last = ended, OlderRead.objects.first()
    if last is not None:
        following = ended.filter(Q(ended_at__lt=last.ended_at) | Q(pk__lt=last.number), ended_at__lte=last.ended_at)
    ids = "pk", "ended_at", "room"
    found = list(following.values_list(*ids)[:OLDER]) or list(ended.values_list(*ids)[:OLDER])
    if not found:
        return []
    number, ended_at, _ = found[-1]
    OlderRead.objects.update_or_create(defaults={"number": number, "ended_at": ended_at})
    rows = Resource.objects.filter(IN_REACH).exclude(recently("members_read__at", at=clock.at(at), within=NOT_AGAIN))
    rows = rows.select_related("incident").defer("incident__words")
    each = (rows.filter(incident=pk, key=f"channel/{room}").first() for pk, _, room in found)
    return [channel for channel in each if channel is not None]


def _look_at(chat: Chat, channels: Iterable[Resource], *, at: datetime, asks: Collection[int]) -> int:
    """Compare channels until the vendor may not be asked any more; return how many were.

    ``asks`` are the keys of those whose privacy is looked at although nobody came.
    """
    done = 0
    for channel in channels:
        if not _look(chat, channel, at=at, asks=channel.pk in asks):
            break
        done += 1
    return done


def _look(chat: Chat, channel: Resource, *, at: datetime, asks: bool) -> bool:
    """Compare one channel, and with ``asks`` its privacy; return whether the vendor may be asked about the next."""
    _note_read(channel, at=at)
    before = _read(channel)
    try:
        members = chat.members(channel.external_id)
        strangers = _unknown(_newcomers(members, before, before) - {chat.self_id})
        met = not strangers or _meet(strangers)
        if strangers and met:
            before, members = _read(channel), chat.members(channel.external_id)
    except VendorError as error:
        return _failed(error, channel, at=at)
    if not _sees(chat, channel, members, at=at):
        return True
    after = _read(channel)
    try:
        asks = asks or bool(_newcomers(members - {chat.self_id}, before, after))
        closed = not asks or _is_closed(chat, channel)
    except VendorError as error:
        return _failed(error, channel, at=at)
    if not closed and channel.spec.get("private"):  # one that we are still to close is no news
        _leave(channel, at=at)
    elif met or not before.inside or members & before.inside.keys():  # else all of them may have other ids by now
        # One that has just been closed lets nobody in until that is recorded: whoever came in before may not stay.
        may_enter = members if channel.spec.get("private") else members & (before.taking_part | after.taking_part)
        _compare(channel, may_enter, before, after, at=at)
    return True


def _sees(chat: Chat, channel: Resource, members: frozenset[str], *, at: datetime) -> bool:
    """Return whether a channel is in sight; note that it is again where no event said so.

    Of a public one that we are not in the vendor lists everyone, and nobody once it is archived, which nobody may have
    told us yet. ``room_looks`` looks how it stands.
    """
    if chat.self_id not in members:
        return False
    if rooms.was_out_of_reach(channel.external_id, refused=[lost_channels.OUTSIDE]):  # nothing else says we were not in
        rooms.in_sight(channel.external_id, at=at)
    return True


def _leave(channel: Resource, *, at: datetime) -> None:
    """Have the conversation leave a channel that somebody made public, and tell its people there why."""
    _, says = room_news.said(channel, room_news.OPENED, by_someone=False)
    rooms.converted(channel.external_id, public=True)
    lifecycle.warn(channel.incident, says, about=f"public/{channel.room}", at=at)


def _is_closed(chat: Chat, channel: Resource) -> bool:
    """Return whether a channel is private still: whoever comes into one that is not was let in by nobody.

    A name that somebody gave it is followed on the way.
    """
    found = chat.look(channel.external_id)
    if found is not None:
        rooms.called(channel, found.name)
    return found is None or found.private


@dataclass(frozen=True, slots=True)
class _Known:
    """By chat id: who takes part, and who of them is in the channel as far as we know, and since when."""

    taking_part: frozenset[str]
    inside: dict[str, datetime]


def _read(channel: Resource) -> _Known:
    here = Participant.objects.filter(incident=channel.incident_id, left_at=None, person__chat_id__isnull=False)
    since = {str(chat_id): at for chat_id, at in here.values_list("person__chat_id", "since_at")}
    rooms_of = Resource.objects.filter(incident=channel.incident_id, kind="member", room=channel.room, state=THERE)
    there = {str(row.spec["person"]): row.since_at for row in rooms_of}
    return _Known(frozenset(since), {one: max(since[one], there[one]) for one in since.keys() & there.keys()})


def _compare(channel: Resource, members: frozenset[str], before: _Known, after: _Known, *, at: datetime) -> None:
    _follow(channel, members, before, after, at=at)
    _warn(channel.incident, members, at=at)


def _follow(channel: Resource, members: frozenset[str], before: _Known, after: _Known, *, at: datetime) -> None:
    """Follow what differs. What an event changed while we asked is left alone: it is newer than the answer.

    Whoever was not invited yet, or could not be, is not in ``inside`` and so not missed. One that turned private while
    we asked is left alone, too: nobody comes in by an answer about a public one.
    """
    incident = channel.incident
    settled = {one for one, since in after.inside.items() if not at - GRACE < since <= at + AHEAD}
    missed = settled & before.inside.keys() - members
    for person in Person.objects.filter(chat_id__in=missed):
        with transaction.atomic():
            if _turned_private(incident):
                return
            rooms.left(incident, person=person, channel_id=channel.external_id, at=at)
    for person in _people(_newcomers(members, before, after)):
        with transaction.atomic():
            if _turned_private(incident):
                return
            rooms.joined(incident, person=person, channel_id=channel.external_id, at=at)


def _turned_private(incident: Incident) -> bool:
    """Return whether an incident did since it was read, holding it."""
    if incident.private:
        return False
    timeline.hold(incident.pk)
    return Incident.objects.filter(pk=incident.pk, private=True).exists()


def _newcomers(members: frozenset[str], before: _Known, after: _Known) -> frozenset[str]:
    """Return those in the channel who were not known to be."""
    return members - (before.inside.keys() & before.taking_part) - (after.inside.keys() & after.taking_part)


def _people(chat_ids: Collection[str]) -> Iterator[Person]:
    """Return those of these who are known, and no bots."""
    known = {str(one.chat_id): one for one in Person.objects.filter(chat_id__in=chat_ids)}
    yield from (one for _, one in sorted(known.items()) if not one.is_bot)


def _unknown(chat_ids: Collection[str]) -> set[str]:
    return set(chat_ids) - set(Person.objects.filter(chat_id__in=chat_ids).values_list("chat_id", flat=True))


def _meet(chat_ids: Collection[str]) -> bool:
    """Look for people whom nobody knows among everyone; who is not there is from elsewhere. Return whether we could."""
    if not _asked_for_everybody():
        return False
    for chat_id in _unknown(chat_ids):
        workspace_cache.note(person_matching.ChatProfile(chat_id, chat_id, is_external=True))
    return True


def _asked_for_everybody() -> bool:
    try:
        workspace_cache.refresh(everybody=True)
    except VendorError as error:
        log.warning("could not read the workspace: %s", error)
        return False
    return True


def _warn(incident: Incident, members: frozenset[str], *, at: datetime) -> None:
    """Say once of each guest, and of everyone from elsewhere, that they are in."""
    strangers = Person.objects.filter(Q(is_guest=True) | Q(is_external=True), chat_id__in=members, is_bot=False)
    for one in strangers.order_by("pk"):
        what = "is from another workspace" if one.is_external else "is a guest"
        says = f"{one.name} {what} and is in the channel: they can read what is posted there and may see this page."
        lifecycle.warn(
            incident, f"{says} If that is wrong, remove them from the channel.", about=f"stranger/{one.pk}", at=at
        )


def _failed(error: VendorError, channel: Resource, *, at: datetime) -> bool:
    """Note what an error means; return whether the vendor may be asked about the next."""
    return _is_gone(error, channel, at=at) or not (error.retryable or error.retry_after is not None)


def _is_gone(error: VendorError, channel: Resource, *, at: datetime) -> bool:
    """Note what an error means; return whether it means that nobody can say who is in this channel any more."""
    log.warning("could not read the members of a channel: %s", error)
    if error.retry_after is not None:
        until = clock.at(at) + timedelta(seconds=error.retry_after)
        Limit.objects.update_or_create(vendor="chat", method=METHOD, defaults={"blocked_until": until})
    if error.code == lost_channels.NOT_FOUND:
        with transaction.atomic():
            lost_channels.note(channel.incident_id, room=channel.room or 1, why=UNSEEN)
    if error.code == lost_channels.OUTSIDE:
        lifecycle.warn(channel.incident, BLIND, about=f"blind/{channel.room}", at=at)
    return error.code in {lost_channels.NOT_FOUND, lost_channels.OUTSIDE}

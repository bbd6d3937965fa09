"""Read from the vendor who is in the channels of incidents, in case an event was lost; private ones first.

What follows is what the events would have caused: someone no longer in the channel of a private incident loses access,
and someone new there gains it.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from incidents import lifecycle, timeline
from incidents.claiming import rotation, stopping
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
AT_MOST = 55  # channels per run: Slack accepts about a hundred of these calls a minute
LOOKS = 20  # of these, in turn, get their privacy checked even if no one joined: Slack accepts about fifty a minute
NOT_AGAIN = timedelta(seconds=30)
OLDER = 5  # plus this many channels of private incidents that ended long ago
PUBLIC = 10  # plus this many of public incidents
PATIENCE = 3  # unanswered calls before the rest wait for the next run
LATELY = timedelta(days=7)  # channels of incidents that ended longer ago take turns in `poll_older`
GRACE = timedelta(seconds=15)  # for an invitation to propagate
AHEAD = timedelta(minutes=5)  # how far another host's clock may be ahead; one further off must not delay this
# A channel we could not see may become visible again without any event.
IN_REACH = Q(state=THERE) | Q(state=GONE, external__why=UNSEEN)
BLIND = "Firekind is no longer in the channel, so it cannot see who leaves and posts nothing there. Invite it again."


def poll(*, at: datetime) -> int:
    """Compare channels of private incidents with their participants, least recently read first; return how many.

    One call per channel. Stops at a rate limit, which holds for everyone, and while the vendor is down.
    """
    chat = ports.chat()
    if chat is None or _is_limited(at):
        return 0
    due = _due(at=at)
    turn = rotation.in_turn(sorted(one.pk for one in due), at_once=LOOKS, every_s=EVERY_S, at=at)
    return _look_at(chat, due, at=at, asks={*turn})


def poll_older(*, at: datetime) -> int:
    """Compare the channels of a few private incidents that ended long ago, in turn; return how many.

    Someone may be removed from such a channel years later. The number of calls does not grow with the number of
    channels.
    """
    chat = ports.chat()
    if chat is None or _is_limited(at):
        return 0
    older = _older(at=at)
    return _look_at(chat, older, at=at, asks={one.pk for one in older})


def read_all(*, at: datetime) -> int:
    """Compare every channel, even if just read; return how many private ones the vendor gave no answer for.

    Also reads the channels of active public incidents as far as the vendor answers; the rest wait their turn.
    """
    MembersRead.objects.all().delete()
    left = _rows(at=at).count()
    while done := poll(at=at):
        left -= done
    if not left:
        poll_public(at=at, at_once=None)
    return left


def poll_public(*, at: datetime, at_once: int | None = PUBLIC) -> None:
    """Compare channels of active public incidents, in turn; after a restore, unread ones come first.

    After a restore each is read twice: soon, and again once nothing recorded before it can still look recent, whatever
    a clock said. Stops at a rate limit and while the vendor is down; channels without an answer get another turn.
    """
    chat = ports.chat()
    if chat is None or _is_limited(at):
        return
    waiting, left = _unread_public(at=at) or _ids(_public()), PATIENCE
    turn = rotation.in_turn(waiting, at_once=at_once or max(len(waiting), 1), every_s=EVERY_S, at=at)
    for pk in stopping.until_asked(turn):
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
    """Return the channels to compare, without archived ones: Slack may list no members for those."""
    archived = Resource.objects.filter(
        incident=OuterRef("incident"), kind="archived", room=OuterRef("room"), state=THERE
    )
    rows = Resource.objects.filter(IN_REACH, ~Exists(archived), kind="channel", room=F("incident__room"))
    return rows.filter(incident__private=False, incident__active=True)


def _unread_public(*, at: datetime) -> list[int]:
    """Return the channels that have not been read since the database was restored; empty once all have been."""
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
    """Return the channels of the next few private incidents that ended long ago, and advance the turn.

    The turn runs from the newest to the oldest and starts over; a stored list of all of them would grow every year.
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
    """Compare channels until the vendor must not be asked any more; return how many were compared.

    ``asks`` holds the keys of channels whose privacy is checked even if no one joined.
    """
    done = 0
    for channel in stopping.until_asked(channels):
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
    if not closed and channel.spec.get("private"):  # we still have to close this one, so this is no news
        _leave(channel, at=at)
    elif met or not before.inside or members & before.inside.keys():  # otherwise everyone may have new ids by now
        # While closing a channel is not recorded yet, no one is let in: people who joined while it was open may not
        # stay.
        may_enter = members if channel.spec.get("private") else members & (before.taking_part | after.taking_part)
        _compare(channel, may_enter, before, after, at=at)
    return True


def _sees(chat: Chat, channel: Resource, members: frozenset[str], *, at: datetime) -> bool:
    """Return whether we can see a channel; if it became visible again without an event, record that.

    For a public channel that we are not in, Slack lists everyone; once it is archived it lists no one, and the
    archiving may be news to us. ``room_looks`` checks its state.
    """
    if chat.self_id not in members:
        return False
    if rooms.was_out_of_reach(channel.external_id, refused=[lost_channels.OUTSIDE]):  # only this says we were not in it
        rooms.in_sight(channel.external_id, at=at)
    return True


def _leave(channel: Resource, *, at: datetime) -> None:
    """Move the conversation out of a channel that someone made public, and tell the people in it why."""
    _, says = room_news.said(channel, room_news.OPENED, by_someone=False)
    rooms.converted(channel.external_id, public=True)
    lifecycle.warn(channel.incident, says, about=f"public/{channel.room}", at=at)


def _is_closed(chat: Chat, channel: Resource) -> bool:
    """Return whether a channel is still private: joining one that is not gives no one access.

    If someone renamed it, the new name is recorded on the way.
    """
    found = chat.look(channel.external_id)
    if found is not None:
        rooms.called(channel, found.name)
    return found is None or found.private


@dataclass(frozen=True, slots=True)
class _Known:
    """By chat id: the participants, and which of them are in the channel as far as we know, and since when."""

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
    """Apply the differences, but not to anything that an event changed while we asked: that is newer than the answer.

    People who were not invited yet, or could not be, are not in ``inside`` and so are not missed. If the incident
    became private while we asked, nothing is applied: an answer about a public channel lets no one in.
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
    """Return whether the incident became private since it was read; locks it."""
    if incident.private:
        return False
    timeline.hold(incident.pk)
    return Incident.objects.filter(pk=incident.pk, private=True).exists()


def _newcomers(members: frozenset[str], before: _Known, after: _Known) -> frozenset[str]:
    """Return those in the channel who were not known to be in it."""
    return members - (before.inside.keys() & before.taking_part) - (after.inside.keys() & after.taking_part)


def _people(chat_ids: Collection[str]) -> Iterator[Person]:
    """Return the known people with these chat ids, without bots."""
    known = {str(one.chat_id): one for one in Person.objects.filter(chat_id__in=chat_ids)}
    yield from (one for _, one in sorted(known.items()) if not one.is_bot)


def _unknown(chat_ids: Collection[str]) -> set[str]:
    return set(chat_ids) - set(Person.objects.filter(chat_id__in=chat_ids).values_list("chat_id", flat=True))


def _meet(chat_ids: Collection[str]) -> bool:
    """Look up unknown people in the directory; anyone not in it is from elsewhere. Return whether that worked."""
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
    """Warn once about each guest in the channel, and about everyone from another workspace."""
    strangers = Person.objects.filter(Q(is_guest=True) | Q(is_external=True), chat_id__in=members, is_bot=False)
    for one in strangers.order_by("pk"):
        what = "is from another workspace" if one.is_external else "is a guest"
        says = f"{one.name} {what} and is in the channel: they can read what is posted there and may see this page."
        lifecycle.warn(
            incident, f"{says} If that is wrong, remove them from the channel.", about=f"stranger/{one.pk}", at=at
        )


def _failed(error: VendorError, channel: Resource, *, at: datetime) -> bool:
    """Handle an error; return whether the vendor may be asked about the next channel."""
    return _is_gone(error, channel, at=at) or not (error.retryable or error.retry_after is not None)


def _is_gone(error: VendorError, channel: Resource, *, at: datetime) -> bool:
    """Handle an error; return whether it means that no one can say any more who is in this channel."""
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

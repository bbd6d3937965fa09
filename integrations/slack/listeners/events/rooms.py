"""What people do to channels: who joins and leaves, and what happens to the channel itself."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from django.db import connection, transaction
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident, Person, Source
from incidents.reading import catch_up
from integrations.slack.interaction import afterwards
from integrations.slack.interaction.slack_event import Deed, SlackEvent
from integrations.slack.listeners.timeline import catching_up
from workflows import ports
from workflows.channels import came_back, room_news, rooms
from workflows.ports import VendorError

log = logging.getLogger(__name__)

BRINGS: Final = """
    SELECT NOT %(by_us)s
           OR NOT EXISTS (SELECT FROM incidents_participant one JOIN incidents_person p ON p.id = one.person_id
               WHERE one.incident_id = i.id AND one.left_at IS NULL AND p.chat_id = %(user)s)
           OR EXISTS (SELECT FROM workflows_resource m
               WHERE m.incident_id = i.id AND m.kind = 'member' AND m.room = i.room
                 AND m.spec ->> 'person' = %(user)s AND m.state <> 'there'),
           EXISTS (SELECT FROM incidents_event e WHERE e.incident_id = i.id AND e.kind = ANY (%(news)s))
           AND NOT EXISTS (SELECT FROM slack_caughtup c WHERE c.incident_id = i.id AND c.chat_id = %(user)s)
      FROM workflows_resource r JOIN incidents_incident i ON i.id = r.incident_id AND i.room = r.room
     WHERE r.kind = 'channel' AND r.external_id = %(channel)s ORDER BY r.id LIMIT 1
"""


def joined(told: SlackEvent) -> Deed | None:
    """Record that someone joined an incident's channel without our invitation, and send them the catch-up once.

    Someone already in as far as we know is recorded too, because the news that they had left may arrive later.
    """
    if told.text("user") and told.text("user") == told.bot_user_id:
        return _in_sight(told)
    news, catches_up = _brings(told)
    if not (news or catches_up):
        return None
    chat_id = told.text("inviter")
    inviter = told.person(chat_id) if chat_id and chat_id != told.bot_user_id else None
    note = _moved(told, partial(rooms.came, inviter=inviter)) if news else None
    greet = _moved(told, _greet) if catches_up else None
    deeds = [deed for deed in (note, greet) if deed is not None]
    return (lambda: [deed() for deed in deeds]) if deeds else None


def is_expected(payload: Mapping[str, Any]) -> bool:
    """Return whether a join has no consequence: we invited someone who missed nothing, or joined ourselves.

    This is checked before anything else, because a declaration causes one such event per person.
    """
    event = payload.get("event")
    if not isinstance(event, dict) or event.get("type") != "member_joined_channel":
        return False
    told = SlackEvent.of(payload, at=timezone.now())
    ours, user = told.bot_user_id, told.text("user")
    return bool(ours and user) and ours in {user, told.text("inviter")} and joined(told) is None


def left(told: SlackEvent) -> Deed | None:
    """Record that someone left or was removed; we do not invite them again."""
    return _moved(told, rooms.left)


def shut_out(told: SlackEvent) -> Deed | None:
    """Check whether we were removed from a channel. Slack tells only us; those who stay learn that someone left.

    An archived channel has no apps in it, which is not a removal: https://github.com/elastic/connectors/issues/1972.
    """
    channel_id = told.text("channel")
    look = partial(_look_inside, channel_id, stamp=told.stamp)
    return partial(afterwards.leave, look) if rooms.channel_row(channel_id) else None


def _look_inside(channel_id: str, *, stamp: float) -> None:
    """Record that we are out of a channel, if we still are. If the check fails, the next regular one repeats it."""
    chat = ports.chat()
    try:
        found = chat.look(channel_id) if chat is not None else None
    except VendorError as error:
        log.warning("could not look at a channel: %s", error)
        return
    if chat is not None and (found is None or not (found.inside or found.archived)):
        with transaction.atomic():
            rooms.thrown_out(channel_id, is_shown=found is not None, stamp=stamp)


def archived(told: SlackEvent) -> Deed | None:
    """Record that someone archived the channel; also if we did it, because earlier news may arrive later."""
    channel_id = told.text("channel")
    if told.text("user") == told.bot_user_id:
        ours = partial(rooms.archived_by_us, channel_id, at=told.at, stamp=told.stamp)
        return ours if rooms.channel_row(channel_id) else None
    return _noted(told, "archived", then=partial(rooms.archived_by_hand, archived=True, at=told.at))


def unarchived(told: SlackEvent) -> Deed | None:
    """Record that someone unarchived the channel. If it was a private incident's old public one, its people are told.

    Slack adds no one back to a public channel, so we join it first.
    """
    note = _noted(told, "unarchived", then=partial(rooms.archived_by_hand, archived=False, at=told.at))
    return None if note is None else partial(afterwards.leave, partial(_entered, told.text("channel"), note))


def _entered(channel_id: str, note: Deed) -> None:
    """Join a channel again, then record that it was unarchived; a regular look would record that too."""
    chat, room = ports.chat(), rooms.channel_row(channel_id)
    if chat is not None and room is not None:
        came_back.look_and_enter(chat, room)
    with transaction.atomic():
        note()


def deleted(told: SlackEvent) -> Deed | None:
    """Record that someone deleted the channel; Slack does not say who."""
    channel_id = told.text("channel")
    return partial(rooms.deleted, channel_id, at=told.at) if rooms.channel_row(channel_id) else None


def renamed(told: SlackEvent) -> Deed | None:
    """Record a channel's new name."""
    channel = told.part("channel")
    return partial(rooms.renamed, str(channel.get("id", "")), name=str(channel.get("name", "")), stamp=told.stamp)


def moved(told: SlackEvent) -> Deed | None:
    """Record a channel's new id, which Slack assigns when workspaces merge."""
    old, new = told.text("old_channel_id"), told.text("new_channel_id")
    return partial(rooms.renamed, old, name="", new_id=new, stamp=told.stamp)


def converted(told: SlackEvent, *, public: bool) -> Deed | None:
    """Record that the channel became public or private, for which Slack has no event, only a message."""
    return _noted(told, "made public" if public else "made private", then=partial(rooms.converted, public=public))


def _moved(told: SlackEvent, note: Callable[..., None]) -> Deed | None:
    channel_id = told.text("channel")
    if not told.text("user") or told.text("user") == told.bot_user_id:
        return None
    incident = rooms.incident_of_channel(channel_id)
    if incident is None or not rooms.is_current(incident, channel_id):
        return None
    person = told.person(told.text("user"))
    given = {"person": person, "channel_id": channel_id, "at": told.happened_at, "recorded_at": told.at}
    return partial(note, incident, stamp=told.stamp, **given)


def _greet(incident: Incident, *, person: Person, channel_id: str, **_: object) -> None:
    if catching_up.greets(incident, person):
        afterwards.leave(partial(catching_up.greet, incident, person, channel_id))


def _in_sight(told: SlackEvent) -> Deed | None:
    """Record that we are in a channel that was said to be gone, or where our absence made something fail."""
    channel_id = told.text("channel")
    back = partial(rooms.in_sight, channel_id, at=told.at, stamp=told.stamp)
    return back if rooms.was_out_of_reach(channel_id) else None


def _brings(told: SlackEvent) -> tuple[bool, bool]:
    """Return whether someone joined a current channel uninvited by us, and whether they missed anything.

    Each of our invitations causes such an event, and whatever a declaration says is in the headline. It is a single
    hand-written query, because a declaration causes one of these events per person.
    """
    by_us = told.text("inviter") == told.bot_user_id
    asked: dict[str, Any] = {
        "channel": told.text("channel"),
        "user": told.text("user"),
        "by_us": by_us,
        "news": [*catch_up.NEWS],
    }
    with connection.cursor() as cursor:
        cursor.execute(BRINGS, asked)
        news, missed = cursor.fetchone() or (False, False)
    return news, missed


def _noted(told: SlackEvent, did: str, *, then: Callable[..., bool]) -> Deed | None:
    channel_id, user = told.text("channel"), told.text("user")
    channel = rooms.channel_row(channel_id) if user != told.bot_user_id else None
    if channel is None:
        return None
    by = told.person(user) if user else None
    news, late = (room_news.said(channel, did, by_someone=by is not None, is_late=one) for one in (False, True))

    def note() -> None:
        is_news = then(channel_id, stamp=told.stamp)
        kind, says = news if is_news else late
        lifecycle.remark(
            channel.incident,
            kind,
            text=says,
            by=None,
            author=by,
            at=told.happened_at,
            recorded_at=told.at,
            source=Source.SLACK,
            data={} if is_news else {"room": 0},
        )

    return note

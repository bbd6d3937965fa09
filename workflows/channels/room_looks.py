"""Poll the state of incidents' channels, in turn, in case an event was lost, and apply changes.

This goes on after an incident has ended: when people unarchive a channel years later, the steps that failed there are
still owed.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from django.db import connection, transaction

from incidents import lifecycle, timeline
from incidents.claiming import rotation, stopping
from incidents.claiming.shared_clock import clock
from incidents.models import Source
from workflows import ports
from workflows.channels import archived_rooms, came_back, membership, room_news, rooms
from workflows.chat_port import Channel, Chat
from workflows.effects import effect_queue, lost_channels, rate_limits
from workflows.models import ChannelTurn, Effect, Limit, Resource
from workflows.planning.observed import GONE, THERE, UNSEEN
from workflows.ports import VendorError

log = logging.getLogger(__name__)

METHOD: Final = "conversations.info"
AT_ONCE: Final = 10  # in turn: Slack accepts about fifty of these calls a minute, shared with others
ASKED_FOR: Final = 6  # of these, for channels where people were asked to do something
ANY: Final = 2  # of these, at least, for any channel, whatever else there is to poll
# Channels of incidents that are active or were until lately, and channels where a failed step may succeed now.
BUSY: Final = """
    WITH among AS MATERIALIZED (
        SELECT id, generate_series(1, room) AS room FROM incidents_incident WHERE active
        UNION SELECT id, generate_series(1, room) FROM incidents_incident
               WHERE status = 'resolved' AND NOT is_drill AND ended_at > %(lately)s
        UNION SELECT incident_id, room FROM workflows_effect WHERE state = 'failed' AND error_code = ANY (%(refused)s))
    SELECT c.external_id FROM among i
      JOIN workflows_resource c ON c.incident_id = i.id AND c.kind = 'channel' AND c.key = 'channel/' || i.room
     WHERE c.state = 'there' OR c.external ->> 'why' = 'unseen'
     ORDER BY c.id
"""


def look_again(*, at: datetime) -> int:
    """Poll a few channels in turn and apply what changed; return how many had changed without an event."""
    chat = ports.chat()
    if chat is None or Limit.objects.filter(method=METHOD, blocked_until__gt=clock.at(at)).exists():
        return 0
    found = 0
    for channel_id in stopping.until_asked(_turn(at=at)):
        try:
            found += look(chat, channel_id, at=at)
        except VendorError as error:
            log.warning("could not look at a channel: %s", error)
            if error.retry_after is not None:
                rate_limits.block("chat", METHOD, METHOD, until=clock.at(at) + timedelta(seconds=error.retry_after))
            if error.retryable or error.retry_after is not None:
                break
    return found


def _turn(*, at: datetime) -> Iterator[str]:
    """Yield the ids of the channels to poll now: those people were asked to fix, then busy ones, then any others."""
    asked_for = rotation.in_turn(archived_rooms.asked_for(), at_once=ASKED_FOR, every_s=membership.EVERY_S, at=at)
    left = AT_ONCE - ANY - len(asked_for)
    busy = rotation.in_turn(_busy(at=at), at_once=left, every_s=membership.EVERY_S, at=at)
    chosen = dict.fromkeys([*asked_for, *busy])
    yield from chosen
    yield from _any(AT_ONCE - len(chosen))


def _busy(*, at: datetime) -> list[str]:
    refused = [*rooms.REFUSED_ARCHIVED, *rooms.REFUSED_OUTSIDE]
    with connection.cursor() as cursor:
        cursor.execute(BUSY, {"lately": at - archived_rooms.LATELY, "refused": refused})
        return [channel_id for (channel_id,) in cursor.fetchall()]


def _any(count: int) -> Iterator[str]:
    """Yield the next few of all channels, newest to oldest and then over again; a stored list would grow every year.

    Each is recorded when it is yielded, so that a channel at which polling stops early does not hold up the others.
    """
    every = Resource.objects.filter(kind="channel").order_by("-pk")
    last = ChannelTurn.objects.first()
    following = every if last is None else every.filter(pk__lt=last.channel)
    ids = "pk", "external_id"
    for pk, channel_id in list(following.values_list(*ids)[:count]) or list(every.values_list(*ids)[:count]):
        ChannelTurn.objects.update_or_create(defaults={"channel": pk})
        yield channel_id


def look(chat: Chat, channel_id: str, *, at: datetime) -> bool:
    """Poll one channel and apply what changed; return whether anything had. Raises ``VendorError``."""
    before = _known(channel_id)
    if before is None or (before[0].state == GONE and before[0].external.get("why") != UNSEEN):
        return False  # deleted, or in a workspace that is not connected
    found = chat.look(channel_id)
    if before[1] or lost_channels.OWED in before[0].external:  # archived when we last heard, or not joined since
        found = came_back.enter(chat, before[0], found)
        before = _known(channel_id) or before  # that we could not is part of what is known
    with transaction.atomic():
        timeline.hold(before[0].incident_id)
        known = _known(channel_id)
        if known is None or known[1:] != before[1:]:
            return False  # an event reported it first
        if found is None:
            return lost_channels.note(known[0].incident_id, room=known[0].room or 1, why=UNSEEN)
        return _follow(*known[:2], found, at=at)


def _known(channel_id: str) -> tuple[Resource, bool, object] | None:
    """Return what is known about a channel: its row, whether it is archived, and all that an event may change."""
    channel = rooms.channel_row(channel_id)
    if channel is None:
        return None
    key = f"archived/{channel.room}"
    archived = Resource.objects.filter(incident=channel.incident_id, key=key, state=THERE).exists()
    return channel, archived, (channel.state, channel.spec, channel.external)


def _follow(channel: Resource, archived: bool, found: Channel, *, at: datetime) -> bool:
    """Apply the polled state of a channel, holding its incident; return whether it was news."""
    _settle(channel, found)
    if rooms.is_being_ended(channel):
        return False  # this is recorded along with everything that follows from it
    did = []
    is_converted = found.private != bool(channel.spec.get("private"))
    if is_converted and rooms.converted(channel.external_id, public=not found.private):
        did.append("made private" if found.private else "made public")
    if found.archived != archived and rooms.archived_by_hand(channel.external_id, archived=found.archived, at=at):
        did.append("archived" if found.archived else "unarchived")
    for one in did:
        kind, says = room_news.said(channel, one, by_someone=False)
        lifecycle.remark(channel.incident, kind, text=says, by=None, at=at, source=Source.SLACK)
    renamed = bool(found.name) and found.name != channel.external.get("name")
    if renamed:
        rooms.renamed(channel.external_id, name=found.name)
    again = rooms.within_reach(channel.external_id, inside=found.inside, archived=found.archived, at=at)
    return bool(did) or renamed or again


def _settle(channel: Resource, found: Channel) -> None:
    """Record that we did not end a channel that is open, if that is in doubt, as after a restore."""
    open_ones = [kind for kind, done in (("archived", found.archived), ("closed", found.private)) if not done]
    doubted = Effect.objects.filter(incident=channel.incident_id, room=channel.room, kind__in=open_ones, unsure=True)
    if doubted.filter(state=Effect.State.WAITING, tried_at=None).update(unsure=False):
        effect_queue.replan(channel.incident_id)

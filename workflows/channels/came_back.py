"""Re-enter a public channel that was unarchived. Slack puts no one back in it, neither people nor us.

https://slack.com/help/articles/213185307-Archive-or-delete-a-channel
"""

from __future__ import annotations

import logging
from dataclasses import replace

from workflows.chat_port import Channel, Chat
from workflows.effects import effect_queue, lost_channels
from workflows.models import Resource
from workflows.planning.observed import OUTSIDE, PUT_OUT, THERE
from workflows.ports import VendorError

log = logging.getLogger(__name__)


def look_and_enter(chat: Chat, room: Resource) -> None:
    """Look at the channel of a room that was unarchived, and rejoin it. If we can do neither, each look tries again."""
    try:
        enter(chat, room, chat.look(room.external_id))
    except VendorError as error:
        _owe(room, error)


def enter(chat: Chat, room: Resource, found: Channel | None) -> Channel | None:
    """Rejoin the channel of a room that was unarchived; return its state afterwards.

    We stay out if people removed us before it was archived. If we cannot join, the steps that fail there say so, and
    each look at it tries again.
    """
    stays_out = room.external.get("why") == OUTSIDE and lost_channels.OWED not in room.external
    if found is None or found.private or found.archived or found.inside or stays_out:
        return found
    try:
        chat.enter(room.external_id)
    except VendorError as error:
        _owe(room, error)
        return found
    return replace(found, inside=True)


def _owe(room: Resource, error: VendorError) -> None:
    log.warning("could not go back into a channel: %s", error)
    lost_channels.owe_entry(room.incident_id, room=room.room or 1)


def forget_members(room: Resource) -> None:
    """Record that a room's channel is empty now, and that none of its members chose to leave.

    Those who are still wanted are invited: now if the incident is active, else when it is reopened. Runs in the
    caller's transaction, which holds the incident.
    """
    members = Resource.objects.filter(incident=room.incident, kind="member", room=room.room, state=THERE)
    if not room.spec.get("private") and members.update(state=PUT_OUT):
        effect_queue.replan(room.incident_id)

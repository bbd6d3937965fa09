"""A public channel that was unarchived: the vendor puts nobody back who was in it, neither people nor us.

https://slack.com/help/articles/213185307-Archive-or-delete-a-channel
"""

from __future__ import annotations

import logging
from dataclasses import replace

from workflows.chat_port import Channel, Chat
from workflows.effects import effect_queue
from workflows.models import Resource
from workflows.planning.observed import OUTSIDE, PUT_OUT, THERE
from workflows.ports import VendorError

log = logging.getLogger(__name__)


def enter(chat: Chat, room: Resource, found: Channel | None) -> Channel | None:
    """Go back into the channel of a room that was unarchived; return how it stands then.

    Not where people removed us before it was archived. Where we are not let in, what we cannot do there says so.
    """
    if found is None or found.private or found.archived or found.inside or room.external.get("why") == OUTSIDE:
        return found
    try:
        chat.enter(room.external_id)
    except VendorError as error:
        log.warning("could not go back into a channel: %s", error)
        return found
    return replace(found, inside=True)


def forget_members(room: Resource) -> None:
    """Note that nobody is in the channel of a room any more, and that none of them left of their own will.

    Those who are still wanted are invited: at once where people respond, else once it is reopened. In the caller's
    transaction, in which the incident stays held.
    """
    members = Resource.objects.filter(incident=room.incident, kind="member", room=room.room, state=THERE)
    if not room.spec.get("private") and members.update(state=PUT_OUT):
        effect_queue.plan_anew(room.incident_id)

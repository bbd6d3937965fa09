"""Channels that we created in the time that a restore lost: people talk there, and nothing here knows about them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from workflows.chat_port import Channel, Chat
from workflows.effects import restoring
from workflows.models import Effect, Resource
from workflows.models.effects import ROOMS
from workflows.planning.actions import CREATE


def find(chat: Chat, *, at: datetime) -> Sequence[Channel]:
    """Ask the chat for such channels, once `restoring.begin` has recorded the lost period; raises ``VendorError``.

    Channels that are still owed are left out: the performer looks for them before it creates them.
    """
    since = restoring.lost_since(at=at)
    if since is None:
        return ()
    made = {one.id: one for one in chat.channels_made(since=since - restoring.BEHIND)}
    known = Resource.rooms(made).values_list("external_id", flat=True)
    owed = Effect.objects.filter(kind__in=ROOMS, verb=CREATE, state__in=[Effect.State.WAITING, Effect.State.RUNNING])
    named = set(owed.values_list("spec__name", flat=True))
    return [one for id, one in made.items() if id not in set(known) and one.name not in named]

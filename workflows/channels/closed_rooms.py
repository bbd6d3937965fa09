"""Rooms that were closed without our knowing: after a restore, their incidents may have become private since."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from django.db.models import Exists, F, OuterRef

from workflows.chat_port import Channel, Chat
from workflows.models import Resource
from workflows.planning.observed import THERE
from workflows.ports import VendorError

TRIES: Final = 5
PAUSE_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class ClosedRoom:
    """The room of an incident that is public here, and the state of its channel in the chat, if known."""

    codename: str
    ended: bool
    name: str
    says: str
    unseen_for: str = ""  # why its state is unknown, in words


def closed_since(chat: Chat) -> Iterator[ClosedRoom]:
    """Ask the chat about every room that is open here; yield those that are not open there, or could not be seen.

    A room that was archived before counts while its incident is active: a room closed for a private incident would look
    the same. Stops asking after the first request that goes unanswered: there may be hundreds, and someone is waiting.
    """
    silent: VendorError | None = None
    archived = Resource.objects.filter(incident=OuterRef("incident"), kind="archived", room=OuterRef("room"))
    rooms = Resource.objects.filter(kind="channel", state=THERE, room=F("incident__room"), incident__private=False)
    for room in rooms.exclude(Exists(archived), incident__active=False).select_related("incident").order_by("pk"):
        try:
            says = _closed(_look(chat, room.external_id, silent=silent))
        except VendorError as error:
            says, silent = "could not be looked at", error
        if says:
            incident = room.incident
            name = room.label or room.external_id
            yield ClosedRoom(incident.codename, not incident.is_active, name, says, silent.says_once if silent else "")


def _closed(there: Channel | None) -> str:
    if there is None:
        return "is gone, or closed to Firekind"
    if there.private:
        return "is private"
    return "is archived" if there.archived else ""


def _look(chat: Chat, channel_id: str, *, silent: VendorError | None) -> Channel | None:
    if silent is not None:
        raise silent
    for _ in range(TRIES - 1):
        try:
            return chat.look(channel_id)
        except VendorError as error:
            if not error.retryable:
                raise
            time.sleep(error.retry_after or PAUSE_S)
    return chat.look(channel_id)

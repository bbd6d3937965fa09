"""Timeline sentences for a channel that a person archived, unarchived, or made public or private."""

from __future__ import annotations

from typing import Final

from workflows.chat_port import Remains
from workflows.models import Resource
from workflows.planning.observed import THERE

SAID: Final = {
    "archived": ("archived {}", "{} was archived"),
    "unarchived": ("unarchived {}", "{} was unarchived"),
    "made public": (
        "made {} public: everyone in the workspace can read it",
        "{} was made public: everyone in the workspace can read it",
    ),
    "made private": ("made {} private", "{} was made private"),
}
OPENED: Final = "made public"  # if the incident is private, its people are told too
WARNS: Final = "unarchived"  # if this is the old public channel of a private incident, its people are told


def said(channel: Resource, did: str, *, by_someone: bool, is_late: bool = False) -> tuple[str, str]:
    """Return the entry's kind and its text, which continues the actor's name or stands alone.

    ``is_late`` means that newer news came first: no one is warned about a state that has passed.
    """
    incident = channel.incident
    is_old = incident.private and channel.room != incident.room and not channel.spec.get("private")
    name = f"the old public channel {channel.label}" if is_old else channel.label
    sentence = SAID[did][0 if by_someone else 1].format(name)
    if not by_someone:
        sentence = f"{sentence[0].upper()}{sentence[1:]}"
    if is_old and did == WARNS and not is_late:
        rest = f"Our messages there are withdrawn; {_readable(channel)}. To close it again, archive it in Slack."
        return "warned", f"{sentence} in Slack. {rest}"
    if did == OPENED and incident.private and channel.room == incident.room and not is_late:
        rest = "Our messages there are withdrawn, and the conversation moves to a new private channel."
        return "warned", f"{sentence}. {rest}"
    return "channel", sentence if did.startswith("made") else f"{sentence} in Slack"


def _readable(channel: Resource) -> str:
    """Say what others posted there, as counted when the conversation moved out."""
    counted = Resource.objects.filter(
        incident=channel.incident_id, kind="counted", room=channel.room, state=THERE
    ).first()
    if counted is None:
        return "what others posted can be read there"
    left = Remains(**counted.external)
    if not left.messages:
        return "others had posted nothing there"
    more = "more than " if left.more else ""
    return f"{more}{left.messages} {'message' if left.messages == 1 else 'messages'} of others can be read there"

"""Messages as they arrive and change. Nearly all are ignored after reading their kind."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from integrations.slack.interaction.slack_event import Deed, Listener, SlackEvent
from integrations.slack.listeners.events import rooms
from integrations.slack.listeners.timeline import capture

KINDS: Final[Mapping[str, Listener]] = {
    "message_changed": capture.changed,
    "message_deleted": capture.changed,
    "channel_convert_to_public": partial(rooms.converted, public=True),
    "channel_convert_to_private": partial(rooms.converted, public=False),
}


def is_talk(payload: Mapping[str, Any]) -> bool:
    """Return whether this is a message that concerns no one here, as most of Slack's deliveries are."""
    event = payload.get("event")
    if not isinstance(event, dict) or event.get("type") != "message":
        return False
    subtype = event.get("subtype")
    return not isinstance(subtype, str) or subtype not in KINDS


def told(delivered: SlackEvent) -> Deed | None:
    """Pass on the few kinds of messages that matter."""
    listener = KINDS.get(delivered.text("subtype"))
    return listener(delivered) if listener else None

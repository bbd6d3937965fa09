"""Messages pinned to their channel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from integrations.slack.fake import changes
from integrations.slack.fake.server import guards, shapes
from integrations.slack.fake.server.answers import ErrorAnswer
from integrations.slack.fake.server.args import Args

from .table import Body, Method

if TYPE_CHECKING:
    from integrations.slack.fake.core import Caller, FakeSlack

from integrations.slack.fake.workspace import Channel, Message
from integrations.slack.protocol.limits import MAX_PINS


def add(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Pin a message."""
    channel, message = _item(slack, caller, args, otherwise="not_in_channel")
    if message.ts in channel.pins:
        raise ErrorAnswer("already_pinned")
    if message.is_system:
        raise ErrorAnswer("not_pinnable")
    if len(channel.pins) >= MAX_PINS:
        raise ErrorAnswer("too_many_pins")
    changes.pin(slack, channel, message, caller.user)
    return {}


def remove(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Remove a pin."""
    channel, message = _item(slack, caller, args, otherwise="channel_not_found")
    if message.ts not in channel.pins:
        raise ErrorAnswer("no_pin")
    changes.unpin(slack, channel, message, caller.user)
    return {}


def list_all(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """List a channel's pins, newest first."""
    channel = guards.visible_channel(slack, caller, args.text("channel"))
    team_id = slack.workspace.team_id
    items = [
        {
            "type": "message",
            "channel": channel.id,
            "message": shapes.message(channel, channel.messages[ts], team_id=team_id),
            **about,
        }
        for ts, about in reversed(channel.pins.items())
    ]
    return {"items": items}


def _item(slack: FakeSlack, caller: Caller, args: Args, *, otherwise: str) -> tuple[Channel, Message]:
    channel = guards.member_channel(slack, caller, args.text("channel"), otherwise=otherwise)
    if "timestamp" not in args:
        raise ErrorAnswer("no_item_specified")
    return channel, guards.existing_message(channel, args.text("timestamp"))


METHODS: Final[dict[str, Method]] = {"pins.add": add, "pins.remove": remove, "pins.list": list_all}

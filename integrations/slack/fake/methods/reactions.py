"""Reactions on messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from integrations.slack.fake import changes
from integrations.slack.fake.server import guards, shapes
from integrations.slack.fake.server.answers import ErrorAnswer
from integrations.slack.fake.server.args import Args

from .table import Body, Method

if TYPE_CHECKING:
    from integrations.slack.fake.core import Caller, FakeSlack

import re

from integrations.slack.fake.workspace import Channel, Message

_NAME: Final = re.compile(r"[a-z0-9_+'\-]{1,100}(::skin-tone-[2-6])?")
_MOST: Final = 23


def add(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """React to a message, once per name."""
    channel, message = _item(slack, caller, args)
    if channel.is_archived:
        raise ErrorAnswer("is_archived")
    name = _name(args)
    if caller.user in message.reactions.get(name, ()):
        raise ErrorAnswer("already_reacted")
    if name not in message.reactions and len(message.reactions) >= _MOST:
        raise ErrorAnswer("too_many_emoji")
    changes.react(slack, channel, message, caller.user, name)
    return {}


def remove(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Remove one of your own reactions."""
    channel, message = _item(slack, caller, args)
    name = _name(args)
    if caller.user not in message.reactions.get(name, ()):
        raise ErrorAnswer("no_reaction")
    changes.unreact(slack, channel, message, caller.user, name)
    return {}


def get(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Show one message with its reactions."""
    channel, message = _item(slack, caller, args)
    written = shapes.message(channel, message, team_id=slack.workspace.team_id)
    return {"type": "message", "channel": channel.id, "message": written}


def _item(slack: FakeSlack, caller: Caller, args: Args) -> tuple[Channel, Message]:
    if "channel" not in args or "timestamp" not in args:
        raise ErrorAnswer("no_item_specified")
    channel = guards.visible_channel(slack, caller, args.text("channel"))
    message = guards.existing_message(channel, args.text("timestamp"))
    return channel, message


def _name(args: Args) -> str:
    name = args.text("name").strip(":")
    if not _NAME.fullmatch(name):
        raise ErrorAnswer("invalid_name")
    return name


METHODS: Final[dict[str, Method]] = {"reactions.add": add, "reactions.remove": remove, "reactions.get": get}

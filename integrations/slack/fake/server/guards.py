"""Checks before a method does anything: the caller may see the channel, the name is allowed, and so on."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from integrations.slack.fake.server.answers import ErrorAnswer
from integrations.slack.fake.workspace import Channel, Message, Person
from integrations.slack.protocol.limits import MAX_CHANNEL_NAME

if TYPE_CHECKING:
    from integrations.slack.fake.core import Caller
    from integrations.slack.fake.state import WorkspaceState

T = TypeVar("T")

_TS = re.compile(r"^\d{1,10}\.\d{1,6}$")


def visible_channel(slack: WorkspaceState, caller: Caller, name: str, *, by_name: bool = False) -> Channel:
    """Return a channel that the caller may see; a private one they are not in does not exist for them."""
    channels = slack.workspace.channels
    channel = slack.workspace.channel_named(name) if by_name else channels.get(name)
    if channel is None or (channel.is_private and caller.user not in channel.members):
        raise ErrorAnswer("channel_not_found")
    return channel


def member_channel(slack: WorkspaceState, caller: Caller, name: str, *, otherwise: str = "not_in_channel") -> Channel:
    """Return a channel that the caller is in."""
    channel = visible_channel(slack, caller, name)
    if caller.user not in channel.members:
        raise ErrorAnswer(otherwise)
    return channel


def open_channel(slack: WorkspaceState, caller: Caller, name: str) -> Channel:
    """Return a channel that the caller is in and that is not archived."""
    channel = visible_channel(slack, caller, name)
    if channel.is_archived:
        raise ErrorAnswer("is_archived")
    if caller.user not in channel.members:
        raise ErrorAnswer("not_in_channel")
    return channel


def no_direct(channel: Channel) -> Channel:
    """Refuse direct messages where only channels are allowed."""
    if channel.is_direct:
        raise ErrorAnswer("method_not_supported_for_channel_type")
    return channel


def need_scope(caller: Caller, channel: Channel, *rights: str) -> None:
    """Require one of these rights for this kind of conversation (`channels:` or `groups:` and so on)."""
    wanted = {f"{channel.scope}:{right}" for right in rights}
    if channel.kind == "public":
        wanted |= {"channels:manage" for right in rights if right == "write"}
    if not wanted & caller.scopes:
        raise ErrorAnswer("missing_scope", needed=",".join(sorted(wanted)), provided=",".join(sorted(caller.scopes)))


def free_name(slack: WorkspaceState, name: str) -> str:
    """Check a channel name; public, private and archived channels share one namespace."""
    if len(name) > MAX_CHANNEL_NAME:
        raise ErrorAnswer("invalid_name_maxlength")
    if not re.search(r"[^\W_]", name):
        raise ErrorAnswer("invalid_name_punctuation")
    if name != name.lower() or not re.fullmatch(r"[\w-]+", name):
        raise ErrorAnswer("invalid_name_specials")
    if any(c.name == name for c in slack.workspace.channels.values() if not c.is_direct):
        raise ErrorAnswer("name_taken")
    return name


def existing_message(channel: Channel, ts: str, *, bad: str = "bad_timestamp") -> Message:
    """Return a message by its timestamp."""
    if not _TS.match(ts):
        raise ErrorAnswer(bad)
    message = channel.messages.get(ts)
    if message is None or message.subtype == "tombstone":
        raise ErrorAnswer("message_not_found")
    return message


def existing_person(slack: WorkspaceState, id: str, *, otherwise: str = "user_not_found") -> Person:
    """Return a person by id."""
    person = slack.workspace.people.get(id)
    if person is None:
        raise ErrorAnswer(otherwise)
    return person


def page(items: Sequence[T], *, cursor: str, limit: int, most: int = 1000) -> tuple[Sequence[T], dict[str, Any]]:
    """Return one page of a list with the `response_metadata` for the next one."""
    if not 1 <= limit <= most:
        raise ErrorAnswer("invalid_limit") if most == 1000 else ErrorAnswer("invalid_arguments")
    start = _start(cursor)
    if start > len(items):
        raise ErrorAnswer("invalid_cursor")
    after = start + limit
    following = encode_cursor("next", str(after)) if after < len(items) else ""
    return items[start:after], {"response_metadata": {"next_cursor": following}}


def _start(cursor: str) -> int:
    if not cursor:
        return 0
    value = decode_cursor("next", cursor)
    if not value.isdigit():
        raise ErrorAnswer("invalid_cursor")
    return int(value)


def encode_cursor(kind: str, value: str) -> str:
    """Return a cursor that is opaque to the caller."""
    return base64.b64encode(f"{kind}:{value}".encode()).decode()


def decode_cursor(kind: str, cursor: str) -> str:
    """Decode a cursor."""
    try:
        found, _, value = base64.b64decode(cursor, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        raise ErrorAnswer("invalid_cursor") from None
    if found != kind:
        raise ErrorAnswer("invalid_cursor")
    return value

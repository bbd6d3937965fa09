"""Read messages back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from integrations.slack.fake.server import guards, shapes
from integrations.slack.fake.server.answers import ErrorAnswer
from integrations.slack.fake.server.args import Args

from .table import Body, Method

if TYPE_CHECKING:
    from integrations.slack.fake.core import Caller, FakeSlack

from integrations.slack.fake.workspace import Channel, Message

_MOST: Final = 999


def history(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """List a channel's messages, newest first; replies only if they were also sent to the channel."""
    channel = guards.member_channel(slack, caller, args.text("channel"))
    guards.need_scope(caller, channel, "history")
    found = [m for m in reversed(channel.messages.values()) if not m.is_reply or m.broadcast]
    body = _cut(slack, channel, found, args)
    return {**body, "pin_count": len(channel.pins)}


def replies(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """List a thread, oldest first. For a channel that a bot is not in, the error is that there is no such channel.

    https://docs.slack.dev/reference/methods/conversations.replies has no `not_in_channel`
    """
    channel = guards.member_channel(slack, caller, args.text("channel"), otherwise="channel_not_found")
    guards.need_scope(caller, channel, "history")
    message = channel.messages.get(args.text("ts"))
    if message is None:
        raise ErrorAnswer("thread_not_found")
    return _cut(slack, channel, channel.replies(message.thread_ts or message.ts), args)


def _cut(slack: FakeSlack, channel: Channel, found: list[Message], args: Args) -> Body:
    oldest, latest = _moment(args, "oldest"), _moment(args, "latest")
    inclusive = args.flag("inclusive")
    chosen = [m for m in found if _within(float(m.ts), oldest, latest, inclusive=inclusive)]
    limit = min(args.number("limit", 100), _MOST)
    cut, more = guards.page(chosen, cursor=args.text("cursor"), limit=limit, most=_MOST)
    metadata = args.flag("include_all_metadata")
    written = [shapes.message(channel, m, team_id=slack.workspace.team_id, metadata=metadata) for m in cut]
    has_more = bool(more["response_metadata"]["next_cursor"])
    return {"messages": written, "has_more": has_more, **(more if has_more else {})}


def _moment(args: Args, name: str) -> float:
    value = args.text(name)
    try:
        return float(value) if value else 0.0
    except ValueError:
        raise ErrorAnswer(f"invalid_ts_{name}") from None


def _within(ts: float, oldest: float, latest: float, *, inclusive: bool) -> bool:
    if inclusive:
        return oldest <= ts and (not latest or ts <= latest)
    return oldest < ts and (not latest or ts < latest)


METHODS: Final[dict[str, Method]] = {"conversations.history": history, "conversations.replies": replies}

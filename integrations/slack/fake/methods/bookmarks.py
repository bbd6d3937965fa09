"""Links in a channel's bookmarks bar. Adding is not idempotent: the same link twice is two bookmarks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from integrations.slack.fake.server import guards
from integrations.slack.fake.server.answers import ErrorAnswer
from integrations.slack.fake.server.args import Args

from .table import Body, Method

if TYPE_CHECKING:
    from integrations.slack.fake.core import Caller, FakeSlack

from urllib.parse import urlsplit

from integrations.slack.fake.workspace import Channel, Json
from integrations.slack.protocol.limits import MAX_BOOKMARKS


def add(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Add a link."""
    channel = _channel(slack, caller, args)
    if args.text("type") != "link":
        raise ErrorAnswer("invalid_bookmark_type")
    if len(channel.bookmarks) >= MAX_BOOKMARKS:
        raise ErrorAnswer("too_many_bookmarks")
    bookmark: Json = {
        "id": slack.next_id("Bk"),
        "channel_id": channel.id,
        "title": args.text("title"),
        "link": _link(args),
        "emoji": _emoji(args),
        "icon_url": None,
        "type": "link",
        "entity_id": None,
        "date_created": int(slack.now()),
        "date_updated": 0,
        "rank": f"{len(channel.bookmarks):04d}",
        "last_updated_by_user_id": caller.user,
        "last_updated_by_team_id": slack.workspace.team_id,
        "app_id": None,
    }
    channel.bookmarks.append(bookmark)
    return {"bookmark": dict(bookmark)}


def edit(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Change a link's title, URL or emoji."""
    bookmark = _bookmark(_channel(slack, caller, args), args)
    if "title" in args:
        bookmark["title"] = args.text("title")
    if "link" in args:
        bookmark["link"] = _link(args)
    if "emoji" in args:
        bookmark["emoji"] = _emoji(args)
    bookmark |= {"date_updated": int(slack.now()), "last_updated_by_user_id": caller.user}
    return {"bookmark": dict(bookmark)}


def remove(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Remove a link."""
    channel = _channel(slack, caller, args)
    channel.bookmarks.remove(_bookmark(channel, args))
    return {}


def list_all(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """List a channel's links."""
    return {"bookmarks": [dict(bookmark) for bookmark in _channel(slack, caller, args).bookmarks]}


def _channel(slack: FakeSlack, caller: Caller, args: Args) -> Channel:
    channel = guards.member_channel(slack, caller, args.text("channel_id"), otherwise="access_denied")
    if channel.is_archived:
        raise ErrorAnswer("access_denied")
    return channel


def _bookmark(channel: Channel, args: Args) -> Json:
    wanted = args.text("bookmark_id")
    for bookmark in channel.bookmarks:
        if bookmark["id"] == wanted:
            return bookmark
    raise ErrorAnswer("not_found")


def _link(args: Args) -> str:
    link = args.text("link")
    if urlsplit(link).scheme not in ("http", "https"):
        raise ErrorAnswer("invalid_link")
    return link


def _emoji(args: Args) -> str:
    emoji = args.text("emoji")
    if emoji and not (emoji.startswith(":") and emoji.endswith(":") and len(emoji) > 2):
        raise ErrorAnswer("invalid_emoji")
    return emoji


METHODS: Final[dict[str, Method]] = {
    "bookmarks.add": add,
    "bookmarks.edit": edit,
    "bookmarks.remove": remove,
    "bookmarks.list": list_all,
}

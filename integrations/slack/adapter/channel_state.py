"""Read the state of channels: to check a step before it counts as done, and to count messages around a move."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from integrations.slack.adapter.wire import Wire
from integrations.slack.protocol import error_messages
from workflows.chat_port import Remains
from workflows.ports import VendorError

PAGE: Final = 200
PAGES: Final = 25  # five thousand messages; a longer channel is reported as having more
THREADS: Final = 25  # threads to read: Slack allows fifty requests a minute, and someone may be waiting
# Slack's own messages about people who joined or left, and about deletions, are no one's words.
SILENT: Final = frozenset({"tombstone", "bot_add", "bot_remove", "pinned_item", "unpinned_item"})
LINES: Final = ("channel_", "group_")
NOT_OURS_TO_CLOSE: Final = "Slack does not show the channel as private, so nothing is posted there."


def channel(wire: Wire, channel_id: str) -> Mapping[str, Any] | None:
    """Return a channel in Slack's JSON; None when it is gone or closed to us."""
    try:
        found: Mapping[str, Any] = wire.call("conversations.info", channel=channel_id)["channel"]
    except VendorError as error:
        if error.code != "channel_not_found":
            raise
        return None
    return found


def names(channel: Mapping[str, Any]) -> frozenset[str]:
    """Return a channel's current and former names, because people rename channels."""
    return frozenset([str(channel["name"]), *(channel.get("previous_names") or ())])


def takes_posts(channel: Mapping[str, Any]) -> bool:
    """Return whether we may post in a channel, given Slack's JSON: it is in use, and public or one we are in."""
    return not channel.get("is_archived") and bool(channel.get("is_member") or not channel.get("is_private"))


def is_posted(wire: Wire, channel_id: str, ts: str) -> bool:
    """Return whether a message still exists; one in a channel that Slack no longer shows us does not."""
    return shown(wire, channel_id, ts) is not None


def shown(wire: Wire, channel_id: str, ts: str) -> str | None:
    """Return the text of a message; None when it is gone, or in a channel that Slack no longer shows us."""
    try:
        answer = _at(wire, channel_id, ts)
    except VendorError as error:
        if error.code == "channel_not_found":
            return None
        if error.code != "not_in_channel":
            raise
        wire.call("conversations.join", channel=channel_id)
        answer = _at(wire, channel_id, ts)
    found = (one for one in answer["messages"] if one.get("ts") == ts and one.get("subtype") != "tombstone")
    return next((str(one.get("text") or "") for one in found), None)


def _at(wire: Wire, channel_id: str, ts: str) -> dict[str, Any]:
    return wire.call("conversations.history", channel=channel_id, oldest=ts, latest=ts, inclusive=True, limit=1)


def remains(wire: Wire, channel_id: str, *, ours: str) -> Remains:
    """Count messages and files by author, including threads but not the app's own messages; their text is not kept."""
    found: dict[str, Mapping[str, Any]] = {}
    threads: list[str] = []
    cursor, more = None, True
    for _ in range(PAGES):
        page = wire.call("conversations.history", channel=channel_id, limit=PAGE, cursor=cursor)
        found |= {str(one["ts"]): one for one in page["messages"]}
        threads += [str(one["ts"]) for one in page["messages"] if one.get("reply_count")]
        cursor = (page.get("response_metadata") or {}).get("next_cursor") or None
        if cursor is None:
            more = False
            break
    for ts in threads[:THREADS]:
        page = wire.call("conversations.replies", channel=channel_id, ts=ts, limit=PAGE)
        found |= {str(one["ts"]): one for one in page["messages"]}
        more = more or bool(page.get("has_more"))
    theirs = [one for one in found.values() if is_somebodys(one, ours=ours)]
    authors = Counter(str(one.get("user") or one.get("bot_id") or "") for one in theirs)
    own = tuple(ts for ts, one in found.items() if one.get("user") == ours and not one.get("subtype"))
    files = sum(len(one.get("files") or ()) for one in theirs)
    return Remains(dict(authors), files, more or len(threads) > THREADS, own)


def is_somebodys(message: Mapping[str, Any], *, ours: str) -> bool:
    """Return whether a person or another app wrote a message, not us, nor Slack about who joined or left."""
    subtype = str(message.get("subtype") or "")
    return message.get("user") != ours and subtype not in SILENT and not subtype.startswith(LINES)


def close(wire: Wire, admin: Wire | None, channel_id: str) -> Mapping[str, Any]:
    """Make a channel private, then read it to confirm that, because Slack's answer alone is not proof.

    https://docs.slack.dev/reference/methods/admin.conversations.convertToPrivate Raises ``VendorError``.
    """
    method = "admin.conversations.convertToPrivate"
    found = channel(wire, channel_id)
    if found is not None and not found.get("is_private"):
        if admin is None:
            raise VendorError(error_messages.words("feature_not_enabled"), code="feature_not_enabled", method=method)
        _convert(admin, method, channel_id)
        found = channel(wire, channel_id)
    if found is None or not found.get("is_private"):
        raise VendorError(NOT_OURS_TO_CLOSE, code="not_private", method=method)
    return found


def _convert(admin: Wire, method: str, channel_id: str) -> None:
    """Request the conversion. If Slack is migrating a shared channel, do not retry: a new private channel is faster."""
    try:
        admin.call(method, channel_id=channel_id)
    except VendorError as error:
        error.retryable = error.retryable and error.code != "external_channel_migrating"
        raise

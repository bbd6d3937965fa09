"""Channels known by name: the configured announcement channel, and the channels we are in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from integrations.slack.adapter import channel_state
from integrations.slack.adapter.wire import Wire
from workflows.ports import VendorError

ID: Final = re.compile(r"[CGDUW][A-Z0-9]{2,}")  # or a person's id, for a direct message
PAGE: Final = 200
LARGE_PAGE: Final = 999  # a workspace has thousands of channels, and Slack allows only some twenty list calls a minute
KINDS: Final = "public_channel,private_channel"


class NamedChannels:
    """Finds channels by name and caches their ids, which are checked before use."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self._ids: dict[str, str] = {}

    def learn(self, channel: str, channel_id: str) -> None:
        """Cache the id of a channel from Slack's answer."""
        self._ids[channel] = channel_id

    def id_of(self, channel: str) -> str | None:
        """Return the id of a channel, given as an id or by its current name; None when there is none."""
        if ID.fullmatch(channel):
            return channel
        name, known = channel.lstrip("#"), self._ids.get(channel)
        if known is not None and self._is_named(known, name):
            return known
        found = next((str(one["id"]) for one in self.listed(archived=False) if one["name"] == name), None)
        if found is not None:
            self._ids[channel] = found
        return found

    def ever_named(self, name: str) -> Iterator[str]:
        """Yield the channels that have or had a name, because the one we posted in may since be archived or renamed."""
        return (str(one["id"]) for one in self.listed(archived=True) if name in channel_state.names(one))

    def come_in(self, channel: str) -> str:
        """Find a channel by name and join it. Raises ``VendorError`` when there is none that we may join."""
        channel_id = self.id_of(channel)
        if channel_id is None:
            says = f"There is no channel #{channel.lstrip('#')}. Create it and /invite the app, then retry."
            raise VendorError(says, code="channel_not_found", method="conversations.list")
        try:
            self.wire.call("conversations.join", channel=channel_id)
        except VendorError as error:
            if error.code != "method_not_supported_for_channel_type":  # private, so listed only because we are in it
                raise
        return channel_id

    def ours(self) -> Iterator[dict[str, Any]]:
        """Yield the channels that we are in, page by page, as far as they can be listed."""
        for page in self.wire.listed("users.conversations", types=KINDS, exclude_archived=False, limit=PAGE):
            yield from page["channels"]

    def listed(self, *, archived: bool = True) -> Iterator[dict[str, Any]]:
        """Yield public channels and the private ones that we are in, page by page."""
        for page in self.wire.listed(
            "conversations.list", exclude_archived=not archived, limit=LARGE_PAGE, types=KINDS
        ):
            yield from page["channels"]

    def _is_named(self, channel_id: str, name: str) -> bool:
        """Return whether a known channel is still in use under this name, which another channel may have by now."""
        found = channel_state.channel(self.wire, channel_id)
        return found is not None and found["name"] == name and not found.get("is_archived")

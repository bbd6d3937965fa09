"""What the app is installed with: permissions, event subscriptions and tabs.

The manifest requests exactly this, and the stand-in grants exactly this.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from integrations.slack.protocol.rules import RULES

METHODS: Final = (
    "auth.test",
    "bookmarks.add",
    "bookmarks.edit",
    "bookmarks.list",
    "bookmarks.remove",
    "chat.delete",
    "chat.postEphemeral",
    "chat.postMessage",
    "chat.unfurl",
    "chat.update",
    "conversations.archive",
    "conversations.create",
    "conversations.history",
    "conversations.info",
    "conversations.invite",
    "conversations.join",
    "conversations.list",
    "conversations.members",
    "conversations.replies",
    "conversations.setTopic",
    "files.completeUploadExternal",
    "files.delete",
    "files.getUploadURLExternal",
    "files.info",
    "pins.add",
    "usergroups.list",
    "usergroups.users.update",
    "users.conversations",
    "users.info",
    "users.list",
    "views.open",
    "views.publish",
    "views.push",
    "views.update",
)
"""Every Web API method that we call as the app."""

WITH_ADMIN_TOKEN: Final = ("admin.conversations.convertToPrivate",)
"""Those for which an organisation's admin lends a token of their own: the app asks for nothing."""

WITH_APP_TOKEN: Final = ("apps.connections.open",)
"""Those that are asked with the token for Socket Mode, which has a permission of its own."""

CHANNELS: Final = frozenset({"channels:read", "groups:read"})
EVENT_SCOPES: Final[dict[str, frozenset[str]]] = {
    "app_home_opened": frozenset(),
    "channel_archive": frozenset({"channels:read"}),
    "channel_deleted": frozenset({"channels:read"}),
    "channel_id_changed": CHANNELS,
    "channel_left": frozenset({"channels:read"}),
    "channel_rename": frozenset({"channels:read"}),
    "channel_unarchive": frozenset({"channels:read"}),
    "group_archive": frozenset({"groups:read"}),
    "group_deleted": frozenset({"groups:read"}),
    "group_left": frozenset({"groups:read"}),
    "group_rename": frozenset({"groups:read"}),
    "group_unarchive": frozenset({"groups:read"}),
    "link_shared": frozenset({"links:read"}),
    "member_joined_channel": CHANNELS,
    "member_left_channel": CHANNELS,
    "message.channels": frozenset({"channels:history"}),
    "message.groups": frozenset({"groups:history"}),
    "reaction_added": frozenset({"reactions:read"}),
    "reaction_removed": frozenset({"reactions:read"}),
    "subteam_created": frozenset({"usergroups:read"}),
    "subteam_members_changed": frozenset({"usergroups:read"}),
    "subteam_updated": frozenset({"usergroups:read"}),
    "team_join": frozenset({"users:read"}),
    "user_change": frozenset({"users:read"}),
}
"""What each subscription asks for: docs.slack.dev/reference/events."""

OLD: Final = "channels:write"  # from before today's scopes; new apps cannot get it
ALWAYS: Final = frozenset({"commands", "users:read.email"})  # people are matched by email across Slack and the web

APP_HOME: Final[dict[str, bool]] = {
    "home_tab_enabled": True,
    "messages_tab_enabled": True,  # without it Slack refuses every direct message with messages_tab_disabled
    "messages_tab_read_only_enabled": True,  # no one would read what people write there
}
"""What stands on the app's own page in Slack: docs.slack.dev/surfaces/app-home."""


def scopes() -> set[str]:
    """Return every permission that the methods and subscriptions need, and no other."""
    asked = [needed(method) for method in METHODS] + [*EVENT_SCOPES.values()]
    return set(ALWAYS).union(*asked)


def needed(method: str) -> frozenset[str]:
    """Return the scopes for one method; of alternatives, the ones for the channels we work in."""
    enough = RULES[method].scopes
    if len(enough) <= 1:
        return enough
    return frozenset(one for one in enough - {OLD} if one.startswith(("channels:", "groups:")) and "." not in one)


def unfurl_domains(base_url: str) -> list[str]:
    """Return our own domain, whose links Slack reports to us.

    Empty for an IP address or a host without a dot, which Slack refuses.
    """
    host = urlsplit(base_url).hostname or ""
    return [host] if "." in host and not host.replace(".", "").isdigit() else []

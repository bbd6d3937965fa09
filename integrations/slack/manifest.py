"""The app's manifest, built from the tables that the doors and the adapter use."""

from __future__ import annotations

from typing import Any, Final, Protocol
from urllib.parse import urlsplit

from integrations.slack.listeners import EVENTS, SHORTCUTS
from integrations.slack.protocol.rules import RULES


class Named(Protocol):
    """What the manifest takes from settings."""

    @property
    def command(self) -> str: ...
    @property
    def app_token(self) -> str: ...


ADDRESS: Final = "/slack/events"
METHODS: Final = (
    "auth.test",
    "bookmarks.add",
    "bookmarks.edit",
    "bookmarks.list",
    "bookmarks.remove",
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
    "users.list",
    "views.open",
    "views.publish",
    "views.update",
)
"""Every Web API method that we call as the app."""

WITH_ADMIN_TOKEN: Final = ("admin.conversations.convertToPrivate",)
"""Those for which an organisation's admin lends a token of their own: the app asks for nothing."""

CHANNELS: Final = frozenset({"channels:read", "groups:read"})
EVENT_SCOPES: Final[dict[str, frozenset[str]]] = {
    "app_home_opened": frozenset(),
    "channel_archive": frozenset({"channels:read"}),
    "channel_id_changed": CHANNELS,
    "channel_rename": frozenset({"channels:read"}),
    "channel_unarchive": frozenset({"channels:read"}),
    "group_archive": frozenset({"groups:read"}),
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

OLD: Final = "channels:write"  # of apps from before today's scopes, which new ones are not granted
ALWAYS: Final = frozenset({"commands", "users:read.email"})  # people are joined by email across Slack and the web


def manifest(given: Named, *, base_url: str) -> dict[str, Any]:
    """Build the manifest; with an app-level token it asks for Socket Mode, and names no address."""
    socket = bool(given.app_token)
    address = {} if socket else {"url": f"{base_url}{ADDRESS}"}
    request = {} if socket else {"request_url": f"{base_url}{ADDRESS}"}
    return {
        "display_information": {
            "name": "Firekind",
            "description": "Incident response that follows the type of an incident.",
            "background_color": "#7a1f1f",
        },
        "features": {
            "app_home": {"home_tab_enabled": True, "messages_tab_enabled": False},
            **_unfurls(base_url),
            "bot_user": {"display_name": "Firekind", "always_online": True},
            "shortcuts": [
                {
                    "name": one.name,
                    "type": "message" if one.on_message else "global",
                    "callback_id": callback_id,
                    "description": one.says,
                }
                for callback_id, one in SHORTCUTS.items()
            ],
            "slash_commands": [
                {
                    "command": given.command,
                    **address,
                    "description": "Declare and run an incident",
                    "usage_hint": "declare checkout is slow | type | update | help",
                    "should_escape": True,
                }
            ],
        },
        "oauth_config": {"scopes": {"bot": sorted(scopes())}},
        "settings": {
            "event_subscriptions": {**request, "bot_events": sorted(events())},
            "interactivity": {"is_enabled": True, **request},
            "org_deploy_enabled": False,
            "socket_mode_enabled": socket,
            "token_rotation_enabled": False,
        },
    }


def _unfurls(base_url: str) -> dict[str, list[str]]:
    """Name our own domain, whose links Slack then tells us of; Slack takes no bare addresses."""
    host = urlsplit(base_url).hostname or ""
    return {"unfurl_domains": [host]} if "." in host and not host.replace(".", "").isdigit() else {}


def scopes() -> set[str]:
    """Return every permission that the methods and the subscriptions ask for, and no other."""
    asked = [needed(method) for method in METHODS] + [EVENT_SCOPES[event] for event in events()]
    return set(ALWAYS).union(*asked)


def needed(method: str) -> frozenset[str]:
    """Return the permissions of one method: of those that would each do, the ones for the channels we work in."""
    enough = RULES[method].scopes
    if len(enough) <= 1:
        return enough
    return frozenset(one for one in enough - {OLD} if one.startswith(("channels:", "groups:")) and "." not in one)


def events() -> set[str]:
    """Return the subscriptions behind the listeners; messages are subscribed to by kind of channel."""
    kinds = {"message.channels", "message.groups"}
    return {event for event in EVENTS if event != "message"} | (kinds if "message" in EVENTS else set())

"""The app's manifest, built from the tables that the doors and the adapter use."""

from __future__ import annotations

from typing import Any, Final, Protocol

from integrations.slack.listeners import EVENTS, SHORTCUTS
from integrations.slack.protocol.installation import (
    APP_HOME,
    EVENT_SCOPES,
    METHODS,
    WITH_ADMIN_TOKEN,
    WITH_APP_TOKEN,
    needed,
    scopes,
    unfurl_domains,
)

__all__ = [
    "ADDRESS",
    "EVENT_SCOPES",
    "METHODS",
    "WITH_ADMIN_TOKEN",
    "WITH_APP_TOKEN",
    "events",
    "manifest",
    "needed",
    "scopes",
]

ADDRESS: Final = "/slack/events"


class Named(Protocol):
    """The settings that the manifest uses."""

    @property
    def command(self) -> str: ...
    @property
    def app_token(self) -> str: ...


def manifest(given: Named, *, base_url: str) -> dict[str, Any]:
    """Build the manifest. With an app-level token it enables Socket Mode and contains no request URLs."""
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
            "app_home": dict(APP_HOME),
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
    domains = unfurl_domains(base_url)
    return {"unfurl_domains": domains} if domains else {}


def events() -> set[str]:
    """Return the event subscriptions that the listeners need; messages are subscribed to per kind of channel."""
    kinds = {"message.channels", "message.groups"}
    return {event for event in EVENTS if event != "message"} | (kinds if "message" in EVENTS else set())

"""Whether a payload has the shape of something that Slack sends, before anything reads into it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

TEXT, OBJECT, LIST = str, dict, list
# Where these stand at the top of a payload, Bolt and the listeners count on their kind.
KINDS: Final[Mapping[str, tuple[type, ...]]] = {
    "type": (TEXT,),
    "event": (OBJECT,),
    "authorizations": (LIST, type(None)),
    "user": (OBJECT, TEXT, type(None)),
    "team": (OBJECT, TEXT, type(None)),
    "enterprise": (OBJECT, TEXT, type(None)),
    "channel": (OBJECT, TEXT, type(None)),
    "view": (OBJECT, type(None)),
    "message": (OBJECT, type(None)),
    "container": (OBJECT, type(None)),
    "actions": (LIST,),
    "command": (TEXT,),
}
PERSON: Final = ("user", "id")
NEEDED: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "event_callback": (("event", "type"), ("event_id",)),
    "block_actions": (PERSON, ("actions", "0", "action_id")),
    "view_submission": (PERSON, ("view", "callback_id")),
    "view_closed": (PERSON, ("view", "callback_id")),
    "shortcut": (PERSON, ("callback_id",)),
    "message_action": (PERSON, ("callback_id",), ("channel", "id"), ("message", "ts")),
    "url_verification": (("challenge",),),
}


def fits(payload: Any) -> bool:
    """Tell whether a payload can be read; one of a kind that we do not know can."""
    if not isinstance(payload, dict):
        return False
    if any(not isinstance(payload[key], kinds) for key, kinds in KINDS.items() if key in payload):
        return False
    needed = NEEDED.get(payload.get("type", ""), ())
    if "command" in payload:
        needed = (("user_id",), ("channel_id",))
    return all(_has_text(payload, path) for path in needed)


def _has_text(payload: Any, path: tuple[str, ...]) -> bool:
    here = payload
    for step in path:
        if isinstance(here, list):
            here = here[int(step)] if here else None
        else:
            here = here.get(step) if isinstance(here, dict) else None
    return isinstance(here, str) and here != ""

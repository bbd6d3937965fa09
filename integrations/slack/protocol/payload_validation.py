"""Validate the shape of a Slack payload before anything reads it."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

TEXT, OBJECT, LIST = str, dict, list
UNFIT: Final = re.compile("[\0\ud800-\udfff]")  # the database cannot store these, and Slack sends none
STAMP: Final = re.compile(r"[0-9]{1,12}(\.[0-9]{1,9})?", re.ASCII)
LONGEST_ID: Final = 64
NOTHING: Final = type(None)
# Bolt looks for the user and channel in each of these, and treats any value that is not text as an object with an id.
HOLDERS: Final[tuple[tuple[str, ...], ...]] = (
    (),
    ("authorizations", "*"),
    ("event",),
    ("event", "authorizations", "*"),
    ("event", "item"),
    ("event", "message"),
    ("event", "previous_message"),
    ("event", "assistant_thread"),
    ("message",),
)
HELD: Final[Mapping[str, tuple[type, ...]]] = {
    **dict.fromkeys(("user", "team", "enterprise", "channel"), (OBJECT, TEXT, NOTHING)),
    "authorizations": (LIST, NOTHING),
}
# Types that Bolt and the listeners rely on at each path. A ``*`` step means every item of a list or an object.
WITHIN: Final[Mapping[tuple[str, ...], tuple[type, ...]]] = {
    ("type",): (TEXT,),
    ("event",): (OBJECT,),
    ("view",): (OBJECT, NOTHING),
    ("message",): (OBJECT, NOTHING),
    ("container",): (OBJECT, NOTHING),
    ("actions",): (LIST,),
    ("command",): (TEXT,),
    ("response_url",): (TEXT, NOTHING),
    **{(*holder, name): kinds for holder in HOLDERS for name, kinds in HELD.items()},
    ("event", "user", "profile"): (OBJECT, NOTHING),
    ("event", "item"): (OBJECT, NOTHING),
    ("event", "item", "channel"): (TEXT, NOTHING),
    ("authorizations", "*"): (OBJECT,),
    ("actions", "*"): (OBJECT,),
    ("actions", "*", "selected_option"): (OBJECT, NOTHING),
    ("response_urls",): (LIST,),
    ("response_urls", "*"): (OBJECT,),
    ("view", "private_metadata"): (TEXT,),
    ("view", "blocks"): (LIST,),
    ("view", "blocks", "*"): (OBJECT,),
    ("view", "state"): (OBJECT, NOTHING),
    ("view", "state", "values"): (OBJECT, NOTHING),
    ("view", "state", "values", "*"): (OBJECT,),
    ("view", "state", "values", "*", "*"): (OBJECT,),
    ("view", "state", "values", "*", "*", "selected_option"): (OBJECT, NOTHING),
    ("view", "state", "values", "*", "*", "selected_users"): (LIST, NOTHING),
}
IDS: Final = (("user_id",), ("user", "id"), ("event", "user"), ("event", "user", "id"))
PERSON: Final = ("user", "id")
NEEDED: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "event_callback": (("event", "type"), ("event_id",)),
    "block_actions": (PERSON, ("actions", "0", "action_id")),
    "view_submission": (PERSON, ("view", "callback_id"), ("view", "type")),
    "view_closed": (PERSON, ("view", "callback_id"), ("view", "type")),
    "shortcut": (PERSON, ("callback_id",)),
    "message_action": (PERSON, ("callback_id",), ("channel", "id"), ("message", "ts")),
    "url_verification": (("challenge",),),
}


@dataclass(slots=True)
class Place:
    """The types allowed in one place, and the places inside it; any type if none is listed."""

    kinds: tuple[type, ...] = (object,)
    within: dict[str, Place] = field(default_factory=dict)


def _laid_out() -> Place:
    """Return ``WITHIN`` as a tree, in the order in which a walk down a payload meets it."""
    top = Place()
    for path, kinds in WITHIN.items():
        place = top
        for step in path:
            place = place.within.setdefault(step, Place())
        place.kinds = kinds
    return top


TOP: Final = _laid_out()


def is_known(payload: Mapping[str, Any]) -> bool:
    """Return whether a payload's type has a listener. Bolt gets no others, because some of them crash it."""
    return "command" in payload or payload.get("type") in NEEDED


def fits(payload: Any) -> bool:
    """Return whether a payload can be read; a type that we do not know always can."""
    if not isinstance(payload, dict):
        return False
    if not _is_of(payload, TOP):
        return False
    if any(len(one) > LONGEST_ID for path in IDS for one in _at(payload, path) if isinstance(one, str)):
        return False
    if not _is_clean(payload) or not _is_ours(payload):
        return False
    needed = NEEDED.get(payload.get("type", ""), ())
    if "command" in payload:
        needed = (("user_id",), ("channel_id",))
    return all(_has_text(payload, path) for path in needed)


def _is_of(one: Any, place: Place) -> bool:
    """Return whether a value and everything inside it have allowed types."""
    if not isinstance(one, place.kinds):
        return False
    return all(_is_of(inner, place.within[step]) for step in place.within for inner in _step(one, step))


def _has_text(payload: Any, path: tuple[str, ...]) -> bool:
    here = payload
    for step in path:
        if isinstance(here, list):
            here = here[int(step)] if here else None
        else:
            here = here.get(step) if isinstance(here, dict) else None
    return isinstance(here, str) and here != ""


def _at(payload: Any, path: tuple[str, ...]) -> list[Any]:
    """Return every value at a path; empty if the path does not exist."""
    here = [payload]
    for step in path:
        here = [inner for one in here for inner in _step(one, step)]
    return here


def _step(one: Any, step: str) -> Collection[Any]:
    if step == "*":
        return one if isinstance(one, list) else one.values() if isinstance(one, dict) else ()
    return (one[step],) if isinstance(one, dict) and step in one else ()


def _is_clean(payload: Any) -> bool:
    """Return whether every text in it can be stored."""
    left = [payload]
    while left:
        one = left.pop()
        if isinstance(one, str) and UNFIT.search(one):
            return False
        if isinstance(one, dict):
            left += [*one, *one.values()]
        elif isinstance(one, list):
            left += one
    return True


def _is_ours(payload: Mapping[str, Any]) -> bool:
    """Return whether the values we stored in a view are a JSON object, and a message's time has Slack's format."""
    if not all(STAMP.fullmatch(one) for one in _at(payload, ("message", "ts")) if isinstance(one, str)):
        return False
    try:
        return all(isinstance(json.loads(one or "{}"), dict) for one in _at(payload, ("view", "private_metadata")))
    except ValueError:
        return False

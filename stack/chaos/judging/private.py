"""What must hold for private incidents once everything has settled: who is in the channel, and what is public."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Final

from stack.chaos.judging.aftermath import Aftermath, Row, channels, current_rooms, place

CHANGES: Final = {"chat.postMessage", "chat.update", "conversations.setTopic", "bookmarks.add", "bookmarks.edit"}
UNDER_WAY_S: Final = 2.0  # how long a Slack request from before a retype's confirmation may take to arrive
Broken = Iterator[tuple[str, ...]]


def _nobody_is_in_who_may_not(found: Aftermath) -> Broken:
    may: dict[str, set[str]] = defaultdict(set)
    for one in found.takes_part:
        may[one["codename"]].add(one["chat_id"])
    there = channels(found)
    for room in found.rooms:
        channel = there.get(room["channel"])
        if not channel or channel["is_archived"] or not channel["is_private"]:
            continue
        if wrong := set(channel["members"]) - may[room["codename"]] - {found.bot}:
            yield room["codename"], f"{sorted(wrong)} are in #{channel['name']} and may not", channel["id"]


def _what_is_private_is_talked_about_in_private(found: Aftermath) -> Broken:
    there, rooms = channels(found), current_rooms(found)
    for one in found.incidents:
        channel = there.get(rooms.get(one["codename"], ""))
        if one["private"] and channel and not channel["is_private"]:
            yield one["codename"], f"it is private and #{channel['name']}, its channel, is public", channel["id"]


def _nothing_private_is_left_in_public(found: Aftermath) -> Broken:
    """Except what someone archived before it could be withdrawn, if the incident says so."""
    public = [one for one in found.channels if not one["is_private"]]
    ours = {one["id"]: json.dumps([_ours(one, found.bot), one["topic"], one["bookmarks"]]) for one in public}
    names, known = {one["id"]: one["name"] for one in public}, _kept_knowingly(found)
    for one in found.incidents:
        for word in found.words.get(one["codename"], ()) if one["private"] else ():
            for id in (id for id, said in ours.items() if word in said and id not in known):
                yield one["codename"], f"#{names[id]} is public and says {word}", word


def _kept_knowingly(found: Aftermath) -> set[str]:
    archived = {one["id"] for one in found.channels if one["is_archived"]}
    said = {(one["codename"], one["key"]) for one in found.gaps}
    kept = {one["channel"] for one in found.rooms if (one["codename"], f"gap/kept/{one['room']}") in said}
    return kept & archived


def _nothing_is_said_in_public_once_private(found: Aftermath) -> Broken:
    """Our calls that began after a retype to private had been confirmed, and carried its words to a public channel."""
    public = {one["id"] for one in found.channels if not one["is_private"]}
    public |= {f"#{one['name']}" for one in found.channels if not one["is_private"]}
    said = [
        (call, json.dumps(call["args"]))
        for call in found.calls
        if call["ok"] and call["method"] in CHANGES and place(call) in public
    ]
    closed: dict[str, float] = {}
    for one in found.accepted:
        if one.to_private:
            closed[one.codename] = min(one.ended_at, closed.get(one.codename, one.ended_at))
    for codename, at in closed.items():
        late = [(call, text) for call, text in said if call["began_at"] > at + UNDER_WAY_S]
        for call, text in late:
            words = (*found.words.get(codename, ()), *found.lost_words.get(codename, ()))
            if word := next((word for word in words if word in text), ""):
                after_s = call["began_at"] - at
                yield codename, f"{call['method']} said {word} in public {after_s:.1f} s after it turned private", word


def _ours(channel: Row, bot: str) -> list[Row]:
    return [one for one in channel["messages"] if one.get("user") == bot]


LAWS: Final[dict[str, Callable[[Aftermath], Broken]]] = {
    "nobody is in a private channel who may not be": _nobody_is_in_who_may_not,
    "what is private is talked about in private": _what_is_private_is_talked_about_in_private,
    "nothing private is left in public": _nothing_private_is_left_in_public,
    "nothing is said in public once private": _nothing_is_said_in_public_once_private,
}

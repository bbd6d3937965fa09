"""What must be true of a channel, of the announcement, and of everything public."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection
from typing import Any

from stack.outside import SandboxWorkspace
from stack.tour.checks import Checks

Json = dict[str, Any]
OURS = "U0FIREKIND"
WITHDRAWN = "This message was withdrawn."
NEUTRAL = {WITHDRAWN, "This conversation has ended here. The channel is being archived."}
ANNOUNCED_IN = "incidents"


def current(checks: Checks, room: Json, *, private: bool, members: Collection[str], topic: str, page: str) -> None:
    """Check the incident's current channel."""
    checks.so(f"#{room['name']} is {'private' if private else 'public'} and open", _is(room, private, archived=False))
    names = ", ".join(sorted(members))
    checks.same(f"in it are exactly {names}", set(room["handles"]) - {"firekind"}, members)
    checks.so(f"its topic begins “{topic}”", room["topic"].startswith(topic), instead=room["topic"])
    links = [mark["link"] for mark in room["bookmarks"]]
    checks.so("its one bookmark leads to the incident page", links == [page], instead=links)
    pinned = [message for message in ours(room) if message["ts"] in room["pins"]]
    kind = topic.partition(" · ")[0]
    checks.so(
        f"one message is pinned, the headline, and says {kind}",
        len(room["pins"]) == len(pinned) == 1 and kind in _words(pinned[0]) and page in _words(pinned[0]),
        instead=[message["text"] for message in pinned],
    )
    nothing_twice(checks, room)


def left(checks: Checks, room: Json, *, words: Collection[str]) -> None:
    """Check a channel that the conversation left."""
    checks.so(f"#{room['name']} is archived", room["is_archived"])
    checks.so("its topic and its bookmarks are gone", not room["topic"] and not room["bookmarks"])
    said = {message["text"] for message in ours(room) if not _deleted_file(message)}
    checks.same("all that is left of our words there is neutral", said, NEUTRAL)
    kept = [file for message in ours(room) for file in message.get("files", ()) if file.get("mode") != "tombstone"]
    checks.so("none of our pictures is left there", not kept, instead=kept)
    whole = " ".join(_words(message) for message in ours(room))
    checks.so("none of our messages there says what it was about", not any(word in whole for word in words))


def nobody_wrong(checks: Checks, workspace: SandboxWorkspace, room: Json) -> None:
    """Check that no guest, bot, stranger or leaver was brought in."""
    traits = ("is_bot", "is_restricted", "is_ultra_restricted", "is_stranger", "deleted")
    people = {one["id"]: one for one in workspace.state()["people"] if one["id"] != OURS}
    wrong = [people[id]["handle"] for id in room["members"] if id in people and any(map(people[id].get, traits))]
    checks.so("no guest, bot, partner or leaver is in it", not wrong, instead=wrong)


def nothing_twice(checks: Checks, room: Json) -> None:
    """Check that none of our messages was posted twice, and that no one joined twice."""
    texts = Counter(message["text"] for message in ours(room) if message["text"] not in {WITHDRAWN, ""})
    twice = [text for text, times in texts.items() if times > 1]
    checks.so("no message of ours stands there twice", not twice, instead=twice)
    joins = Counter(m["user"] for m in room["messages"] if m.get("subtype") in {"channel_join", "group_join"})
    again = [user for user, times in joins.items() if times > 1]
    checks.so("nobody was invited twice", not again, instead=again)


def announced(checks: Checks, workspace: SandboxWorkspace, *, says: Collection[str], page: str = "") -> None:
    """Check that there is one announcement, and what it says."""
    posts = ours(workspace.channel(ANNOUNCED_IN))
    checks.so(f"there is one announcement in #{ANNOUNCED_IN}", len(posts) == 1, instead=[p["text"] for p in posts])
    words = _words(posts[0])
    checks.so(f"it says {' and '.join(says)}", all(one in words for one in says), instead=posts[0]["text"])
    if page:
        checks.so("it links to the incident page", page in words)


def announcement_is_neutral(checks: Checks, workspace: SandboxWorkspace, *, words: Collection[str]) -> None:
    """Check that the announcement was withdrawn, words and link."""
    posts = ours(workspace.channel(ANNOUNCED_IN))
    whole = " ".join(map(_words, posts))
    checks.so(
        "the announcement is neutral", len(posts) == 1 and not any(word in whole for word in words), instead=whole
    )


def nothing_public(checks: Checks, workspace: SandboxWorkspace, *, words: Collection[str]) -> None:
    """Check that no public place in the workspace contains any of these words."""
    public = [room for room in workspace.state()["channels"] if not room["is_private"]]
    found = {room["name"]: word for room in public for word in words if word in json.dumps(room, ensure_ascii=False)}
    checks.so("no public channel holds a word of what is private", not found, instead=found)


def ours(room: Json) -> list[Json]:
    """List what Firekind itself posted there."""
    return [message for message in room["messages"] if message.get("user") == OURS and not message.get("subtype")]


def _deleted_file(message: Json) -> bool:
    """Return whether a message was only a file, which Slack now shows as deleted."""
    return not message["text"] and bool(message.get("files"))


def _is(room: Json, private: bool, *, archived: bool) -> bool:
    return bool(room["is_private"]) == private and bool(room["is_archived"]) == archived


def _words(message: Json) -> str:
    return json.dumps([message["text"], message.get("blocks", []), message.get("attachments", [])], ensure_ascii=False)

"""What is known about incidents' channels, whichever Slack events were lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from stack.chaos.judging.aftermath import Aftermath, Row

Broken = Iterator[tuple[str, ...]]


def unknown(rooms: Iterable[Row], channels: Iterable[Row], *, bot: str) -> Iterator[tuple[Row, str]]:
    """Yield the rooms that are known differently than Slack shows them to the app, each with its real state."""
    there = {one["id"]: one for one in channels}
    for room in rooms:
        if room["kind"] != "channel":
            continue
        found = there.get(room["channel"])
        if found is None or (found["is_private"] and bot not in found["members"]):
            if room["state"] != "gone":
                yield room, "gone, or closed to us"
            continue
        how = found["is_private"], found["is_archived"]
        known = room["state"], room["label"], room["private"], room["archived"]
        if known != ("there", f"#{found['name']}", *how):
            words = "private" if how[0] else "public", "archived" if how[1] else "in use"
            yield room, f"#{found['name']}, {' and '.join(words)}"


def _channels_are_known(found: Aftermath) -> Broken:
    for room, says in unknown(found.rooms, found.channels, bot=found.bot):
        yield room["codename"], f"{room['label']} is {says}, and not known as that", room["channel"]


LAWS: Final[Mapping[str, Callable[[Aftermath], Broken]]] = {"how channels stand is known": _channels_are_known}

"""What stands in the chat is what the product wants to stand there, and not only what it has recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from stack.chaos.judging.aftermath import Aftermath, channels

TOPIC: Final = "topic"


def _wanted_stands(found: Aftermath) -> Iterator[tuple[str, ...]]:
    """A request that came late, after a newer one, would undo it, and every record would say that all is well.

    Nothing can be changed in a channel that is archived, which the incident says itself.
    """
    there = channels(found)
    for one in found.stands:
        channel = there.get(one["channel"])
        if channel is None or channel["is_archived"]:
            continue
        if one["ts"] == TOPIC:
            if channel["topic"] != one["says"]:
                shows = f"#{channel['name']} has the topic {channel['topic']!r}"
                yield one["codename"], f"{shows}, and it should be {one['says']!r}", one["channel"]
            continue
        text = next(
            (message.get("text", "") for message in channel["messages"] if message.get("ts") == one["ts"]), None
        )
        if text != one["says"]:
            shows = "is not there" if text is None else f"says {text[:120]!r}"
            yield (
                one["codename"],
                f"{one['what']} in #{channel['name']} {shows}, and should say {one['says'][:120]!r}",
                one["ts"],
            )


LAWS: Final[dict[str, Callable[[Aftermath], Iterator[tuple[str, ...]]]]] = {
    "what stands in the chat is what is wanted there": _wanted_stands,
}

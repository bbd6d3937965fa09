"""The chat shows what the product wants there, and not only what it recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from integrations.slack.fake.content import kept
from stack.chaos.judging.aftermath import Aftermath, channels

TOPIC: Final = "topic"
NAMED: Final = "\N{REPLACEMENT CHARACTER}"  # where a message names a channel, which people may have renamed since
ENTRY: Final = "told/"


def _wanted_stands(found: Aftermath) -> Iterator[tuple[str, ...]]:
    """Otherwise a late request, carried out after a newer one, has undone it while every record says that all is well.

    Nothing can be changed in an archived channel, as the incident itself says.
    """
    there = channels(found)
    for one in found.stands:
        channel = there.get(one["channel"])
        if channel is None or channel["is_archived"]:
            continue
        if one["ts"] == TOPIC:
            if channel["topic"] != kept(one["says"]):
                shows = f"#{channel['name']} has the topic {channel['topic']!r}"
                yield one["codename"], f"{shows}, and it should be {one['says']!r}", one["channel"]
            continue
        if found.restores and one["what"].startswith(ENTRY):
            continue  # someone edited or withdrew it in the lost time: that is left alone
        text = next((each.get("text", "") for each in channel["messages"] if each.get("ts") == one["ts"]), None)
        wanted, is_named, _ = kept(one["says"]).partition(NAMED)
        if text is None or not (text.startswith(wanted) if is_named else text == wanted):
            shows = "is not there" if text is None else f"says {text[:120]!r}"
            yield (
                one["codename"],
                f"{one['what']} in #{channel['name']} {shows}, and should say {one['says'][:120]!r}",
                one["ts"],
            )


LAWS: Final[dict[str, Callable[[Aftermath], Iterator[tuple[str, ...]]]]] = {
    "what stands in the chat is what is wanted there": _wanted_stands,
}

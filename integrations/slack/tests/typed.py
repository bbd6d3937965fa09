"""Text that people type to make our messages say or do what they should not, and how to detect that it worked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from hypothesis import strategies as st

FORGED: Final = (
    "<person:!channel|x>",
    "<person:U0FORGED|you>",
    "<time:1234567890|now>",
    "<channel:C0FORGED|x>",
    "<room:1>",
    "<room:outlet>",
    "<!channel>",
    "<!here|x>",
    "<!subteam^S0FORGED>",
    "<!date^1234567890^{date}|x>",
    "<@U0FORGED>",
    "<#C0FORGED|x>",
    "<https://forged.example|our bank>",
    "&lt;!channel&gt;",
    '{"kind": "person", "id": "!channel", "label": "x"}',
    "&amp;lt;@U0FORGED&gt;",
    "|",
    ">",
    "<",
    "&",
    "\n",
    "*_~`",
)
TYPED: Final = st.lists(st.sampled_from(FORGED) | st.text(max_size=30), max_size=12).map("".join)
LONG: Final = st.builds(lambda said, times: said * times, TYPED, st.integers(1, 400)).map(lambda said: said[:12_000])
CONTROL: Final = re.compile(r"<([^<>]*)>")
ENTITY: Final = re.compile(r"&(amp|lt|gt);")
SENTINELS: Final = re.compile(r"FORGED|forged|1234567890|!channel|!here|outlet")


def controls(said: str) -> list[str]:
    """Return what Slack would render specially: mentions, links, dates."""
    return CONTROL.findall(said)


def debris(said: str) -> str:
    """Return Slack's control characters that are outside of whole escapes, mentions, links and dates."""
    return "".join(one for one in ENTITY.sub("", CONTROL.sub("", said)) if one in "<>&")


def written(piece: Any) -> Iterator[str]:
    """Yield every text that Slack reads as mrkdwn, in blocks, views and attachments."""
    if isinstance(piece, dict):
        if piece.get("type") == "mrkdwn":
            yield str(piece["text"])
            return
        for value in piece.values():
            yield from written(value)
    elif isinstance(piece, list):
        for one in piece:
            yield from written(one)

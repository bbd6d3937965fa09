"""A catch-up as blocks: the incident, line by line, and a link to all of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from incidents.reading.catch_up import CatchUpLine
from integrations.slack.protocol import blocks, mrkdwn

# Lines shown together: what it is, how it stands and what is next; the others are what is known and what is open.
PARTS: Final = {
    **dict.fromkeys(("Type", "Status", "Impact"), 0),
    **dict.fromkeys(("Lead", "Led by", "Latest update", "Last update", "Next step", "Next update"), 1),
}


def shown(title: str, lines: Iterable[CatchUpLine], *, page: str) -> tuple[blocks.Block, ...]:
    """Render a catch-up for one person to read."""
    said: list[list[str]] = [[mrkdwn.bold(title)], [], []]
    for line in lines:
        said[PARTS.get(line.label, len(said) - 1)].append(_line(line))
    sections = (blocks.section("\n".join(part)) for part in said if part)
    return (*sections, blocks.section(mrkdwn.link(page, "Open the timeline")))


def _line(line: CatchUpLine) -> str:
    since = [mrkdwn.escape(line.by)] if line.by else []
    if line.at is not None and not line.ahead:
        since.append(mrkdwn.age(int(line.at.timestamp()), f"{line.at:%Y-%m-%d %H:%M} UTC"))
    due = f" {mrkdwn.when(line.at)}" if line.at is not None and line.ahead else ""
    aside = f"  ·  _{', '.join(since)}_" if since else ""
    return f"{mrkdwn.bold(line.label)}  {mrkdwn.escape(line.text)}{due}{aside}"

"""Convert text to and from Slack: escaping, markers, mentions, times."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Final

MARKER: Final = re.compile(r"<(person|time|channel):([^|<>]+)\|([^<>]*)>")
CONTROL: Final = re.compile(r"<([^<>]*)>")
LINK: Final = re.compile(r"<(https?://[^|<>]+)(?:\|([^<>]*))?>")
MENTION: Final = re.compile(r"<@([UW][A-Z0-9]+)(?:\|[^<>]*)?>")
UNFINISHED: Final = re.compile(r"(&[a-z]{0,3}|<[^<>]*)$")  # what a cut would leave of an escape or a mention


def escape(text: str) -> str:
    """Make plain text safe: only Slack's three control characters need it."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def unescape(text: str) -> str:
    """Turn Slack's stored text back into what was typed."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def as_typed(text: str) -> str:
    """Turn a stored topic back into what was set: Slack makes links of the addresses in it."""
    return unescape(LINK.sub(lambda link: link[2] or link[1], text))


def mrkdwn(text: str) -> str:
    """Turn plain text with markers into mrkdwn: people are mentioned, times shown in the reader's zone."""
    parts: list[str] = []
    end = 0
    for marker in MARKER.finditer(text):
        parts += [escape(text[end : marker.start()]), _MARKED[marker[1]](marker[2], marker[3])]
        end = marker.end()
    return "".join([*parts, escape(text[end:])])


def bare(text: str) -> str:
    """Turn plain text with markers into words alone, for headers and notifications."""
    return MARKER.sub(lambda marker: marker[3] or marker[2], text)


def mention(chat_id: str | None, name: str) -> str:
    """Mention a person, or name one the workspace does not know."""
    return f"<@{chat_id}>" if chat_id else escape(name)


def link(url: str, label: str) -> str:
    """Write a link with words; a bar or a bracket in the words would end it early."""
    return f"<{escape(url)}|{escape(label).replace('|', '/')}>"


def when(at: datetime) -> str:
    """Write a time that each reader sees in their own zone."""
    return f"<!date^{int(at.timestamp())}^{{date_short_pretty}} {{time}}|{at:%Y-%m-%d %H:%M} UTC>"


def cut(text: str, limit: int) -> str:
    """Shorten a text to at most ``limit`` characters, visibly."""
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"


def people(text: str) -> list[str]:
    """Find the ids of everyone mentioned in what was typed, in order."""
    return MENTION.findall(text)


def plain(text: str, *, name_of: Callable[[str], str]) -> str:
    """Turn a message as Slack stores it into plain text; ``name_of`` gives the name of a person's id."""
    return unescape(CONTROL.sub(lambda control: _plain(control[1], name_of), text))


def _plain(inside: str, name_of: Callable[[str], str]) -> str:
    target, _, label = inside.partition("|")
    if target.startswith("@"):
        name = name_of(target[1:])
        return f"@{label if label and name == target[1:] else name}"
    if target.startswith("#"):
        return f"#{label or target[1:]}"
    if target.startswith("!"):
        return label or f"@{target[1:].partition('^')[0]}"
    address = target.removeprefix("mailto:")
    return f"{label} ({address})" if label and label not in (target, address) else address


def _person(chat_id: str, name: str) -> str:
    return mention(chat_id, name)


def _time(seconds: str, fallback: str) -> str:
    return f"<!date^{seconds}^{{date_short_pretty}} {{time}}|{escape(fallback)}>"


def _channel(channel_id: str, name: str) -> str:
    return f"<#{channel_id}>"


_MARKED: Final[dict[str, Callable[[str, str], str]]] = {"person": _person, "time": _time, "channel": _channel}

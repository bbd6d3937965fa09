"""Slack's mrkdwn as safe HTML. Everything is escaped first; only recognised markup is then converted."""

from __future__ import annotations

import html
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from markupsafe import Markup, escape

from integrations.slack import fake

from . import emoji

_ATOM: Final = re.compile(r"```(?P<block>.+?)```|`(?P<code>[^`\n]+)`|<(?P<ref>[^<>\n]+)>", re.DOTALL)
_MARK: Final = re.compile(r"\ue000(\d+)\ue001")
_EDGE: Final = r"(?<![\w{0}]){0}(?=\S)([^\n{0}]+?)(?<=\S){0}(?![\w{0}])"
_STYLES: Final = (
    (re.compile(_EDGE.format(r"\*")), "strong"),
    (re.compile(_EDGE.format("_")), "em"),
    (re.compile(_EDGE.format("~")), "s"),
)
_SAFE: Final = ("http://", "https://", "mailto:")


@dataclass(frozen=True, slots=True)
class MrkdwnReader:
    """The reader, who determines what a mention links to and the time zone of times."""

    slack: fake.FakeSlack
    person: fake.Person
    link_to: Callable[[str], str]
    zone: str = ""

    def local(self, at: float) -> datetime:
        """Return a time in the zone of the reader's browser, as Slack does, or else of their profile."""
        return datetime.fromtimestamp(at, _zone(self.zone) or _zone(self.person.tz) or UTC)


def _zone(name: str) -> tzinfo | None:
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):  # the cookie may hold anything
        return None


def render(text: str, reader: MrkdwnReader) -> Markup:
    """Return a message text as HTML."""
    kept: list[Markup] = []

    def keep(markup: Markup) -> str:
        kept.append(markup)
        return f"\ue000{len(kept) - 1}\ue001"

    marked = _ATOM.sub(lambda match: keep(_atom(match, reader)), text.replace("\ue000", "").replace("\ue001", ""))
    lines = _quoted(str(escape(emoji.replaced(html.unescape(marked)))))
    for pattern, tag in _STYLES:
        lines = pattern.sub(rf"<{tag}>\1</{tag}>", lines)
    return Markup(_MARK.sub(lambda match: str(kept[int(match[1])]), lines))  # noqa: S704 -- escaped line by line above


def _quoted(escaped: str) -> str:
    parts: list[str] = []
    for line in escaped.split("\n"):
        if line.startswith("&gt;"):
            said = line.removeprefix("&gt;").removeprefix(" ")
            if parts and parts[-1].endswith("</blockquote>"):
                parts[-1] = parts[-1].removesuffix("</blockquote>") + f"<br>{said}</blockquote>"
            else:
                parts.append(f"<blockquote>{said}</blockquote>")
        else:
            parts.append(line)
    return "<br>".join(parts).replace("</blockquote><br>", "</blockquote>")


def _atom(match: re.Match[str], reader: MrkdwnReader) -> Markup:
    if match["block"]:
        return Markup("<pre>{}</pre>").format(html.unescape(match["block"].strip("\n")))
    if match["code"]:
        return Markup("<code>{}</code>").format(html.unescape(match["code"]))
    return _reference(html.unescape(match["ref"]), reader)


def _reference(ref: str, reader: MrkdwnReader) -> Markup:
    target, _, label = ref.partition("|")
    for start, shown in _REFERENCES.items():
        if target.startswith(start):
            return shown(target.removeprefix(start), label, reader)
    if target.startswith(_SAFE):
        words = emoji.replaced(label) or target.removeprefix("mailto:")
        return Markup('<a href="{}" target="_blank" rel="noopener noreferrer">{}</a>').format(target, words)
    return escape(f"<{ref}>")


def _person(id: str, label: str, reader: MrkdwnReader) -> Markup:
    person = reader.slack.workspace.people.get(id)
    name = person.handle if person else label or id
    mine = " mine" if id == reader.person.id else ""
    return Markup('<span class="mention{}">@{}</span>').format(mine, name)


def _channel(id: str, _: str, reader: MrkdwnReader) -> Markup:
    channel = reader.slack.workspace.channels.get(id)
    if channel is None or (channel.is_private and reader.person.id not in channel.members):
        return Markup('<span class="mention">a private channel</span>')
    return Markup('<a class="mention" href="{}">#{}</a>').format(reader.link_to(id), channel.name)


def _group(target: str, label: str, reader: MrkdwnReader) -> Markup:
    group = reader.slack.workspace.groups.get(target)
    mine = " mine" if group and reader.person.id in group.members else ""
    return Markup('<span class="mention{}">{}</span>').format(mine, f"@{group.handle}" if group else label)


def _date(target: str, label: str, reader: MrkdwnReader) -> Markup:
    stamp, _, pattern = target.partition("^")
    if not stamp.isdigit():
        return escape(label)
    at = reader.local(int(stamp))
    words = pattern.partition("^")[0].replace("{ago}", _ago(int(stamp)))
    for token, form in _DATE_TOKENS.items():
        words = words.replace(token, at.strftime(form))
    utc = datetime.fromtimestamp(int(stamp), UTC)
    return Markup('<time datetime="{}" title="{}">{}</time>').format(utc.isoformat(), label, words)


def _ago(stamp: int) -> str:
    """Say how long ago a time was, or how soon it comes, when the page is drawn."""
    apart = int(time.time()) - stamp
    size, unit = next((size, unit) for size, unit in _UNITS if abs(apart) >= size or size == 1)
    count = abs(apart) // size
    said = f"{count} {unit}{'' if count == 1 else 's'}"
    return f"{said} ago" if apart >= 0 else f"in {said}"


def _everyone(word: str, _: str, reader: MrkdwnReader) -> Markup:
    return Markup('<span class="mention mine">@{}</span>').format(word)


_UNITS: Final = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))
_DATE_TOKENS: Final = {
    "{date_num}": "%Y-%m-%d",
    "{date_short_pretty}": "%-d %b",
    "{date_long_pretty}": "%A, %-d %B %Y",
    "{date_pretty}": "%-d %B %Y",
    "{date_short}": "%-d %b %Y",
    "{date_long}": "%A, %-d %B %Y",
    "{date}": "%-d %B %Y",
    "{time_secs}": "%H:%M:%S",
    "{time}": "%H:%M",
}
_REFERENCES: Final[dict[str, Callable[[str, str, MrkdwnReader], Markup]]] = {
    "@": _person,
    "#": _channel,
    "!subteam^": _group,
    "!date^": _date,
    "!": _everyone,
}

"""Convert text to and from Slack's format: escaping, mentions, links, times, and shortening."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from datetime import datetime
from typing import Final

from incidents.people.bidi import isolated

CONTROL: Final = re.compile(r"<([^<>]*)>")
LINK: Final = re.compile(r"<(https?://[^|<>]+)(?:\|([^<>]*))?>")
MAIL: Final = re.compile(r"<mailto:[^|<>]+\|([^<>]*)>")
# An emoji: by its name in Slack, made from a digit, or a character that joins or colours others.
EMOJI: Final = re.compile(
    r":[a-z0-9_+'-]+:(?::skin-tone-\d:)?|[0-9#*]\ufe0f?\u20e3|[\ufe0f\u200d\U0001f3fb-\U0001f3ff]"
)
MENTION: Final = re.compile(r"<@([UW][A-Z0-9]+)(?:\|[^<>]*)?>")
CHANNEL_MENTION: Final = re.compile(r"<#([CG][A-Z0-9]+)(?:\|([^<>]*))?>")
PERSON: Final = re.compile(r"[UW][A-Z0-9]+")
CHANNEL: Final = re.compile(r"[CDG][A-Z0-9]+")
UNFIT_URL: Final = {"|": "%7C", "<": "%3C", ">": "%3E", " ": "%20", "\n": "%0A", "\t": "%09"}
STAR: Final = "\N{ASTERISK OPERATOR}"  # looks like the asterisk that would end bold text
UNFINISHED: Final = re.compile(r"(&[a-z]{0,3}|<[^<>]*)$")  # what a cut would leave of an escape or a mention


def escape(text: str) -> str:
    """Escape plain text; only Slack's three control characters need it."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def bold(text: str) -> str:
    """Write plain text in bold, on one line and with its asterisks replaced, as either would end the bold early."""
    said = " ".join(text.split()).replace("*", STAR)
    return f"*{escape(said)}*" if said else ""


def bold_link(url: str, label: str) -> str:
    """Write a link in bold, with asterisks in its label replaced, because one would end the bold early."""
    return f"*{link(url, label.replace('*', STAR))}*"


def unescape(text: str) -> str:
    """Convert Slack's stored text back into what was typed."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def as_typed(text: str) -> str:
    """Convert a stored topic back into what was set, because Slack turns URLs in it into links."""
    return unescape(LINK.sub(lambda link: link[2] or link[1], text))


def reads_alike(kept: str, sent: str) -> bool:
    """Return whether a stored text equals the one that was sent.

    Slack stores URLs as links and emoji as names. Only Slack knows all of those names, so emoji are not compared.
    https://docs.slack.dev/messaging/formatting-message-text/
    """
    return _reading(kept) == _reading(sent)


def _reading(text: str) -> str:
    words = EMOJI.sub(" ", as_typed(MAIL.sub(r"\1", text)))
    return " ".join("".join(" " if unicodedata.category(one) == "So" else one for one in words).split())


def mention(chat_id: str | None, name: str) -> str:
    """Mention a person, or give the name of one the workspace does not know."""
    return f"<@{chat_id}>" if chat_id and PERSON.fullmatch(chat_id) else escape(isolated(name))


def channel(channel_id: str, name: str) -> str:
    """Link to a channel, or give its name."""
    return f"<#{channel_id}>" if CHANNEL.fullmatch(channel_id) else escape(name)


def link(url: str, label: str) -> str:
    """Write a link with a label; characters that would end either early are replaced. Only http(s) URLs are linked."""
    if not url.startswith(("https://", "http://")):
        return escape(label)
    address = "".join(UNFIT_URL.get(one, one) for one in url)
    return f"<{escape(address)}|{escape(' '.join(label.split())).replace('|', '/')}>"


def when(at: datetime) -> str:
    """Write a time that each reader sees in their own time zone."""
    return moment(int(at.timestamp()), f"{at:%Y-%m-%d %H:%M} UTC")


def moment(seconds: int, otherwise: str) -> str:
    """Write a time given in seconds since 1970; ``otherwise`` is shown where Slack cannot format it."""
    return _date(seconds, "{date_short_pretty} {time}", otherwise)


def age(seconds: int, otherwise: str) -> str:
    """Write how long ago a time was. Slack computes it for each reader, so the message stays correct without edits."""
    return _date(seconds, "{ago}", otherwise)


def _date(seconds: int, form: str, otherwise: str) -> str:
    return f"<!date^{seconds}^{form}|{escape(otherwise).replace('|', '/')}>"


def cut(text: str, limit: int) -> str:
    """Shorten plain text to at most ``limit`` characters, with an ellipsis. Use ``clip`` for text with markup."""
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"


def clip(said: str, limit: int) -> str:
    """Shorten mrkdwn to at most ``limit`` characters, with an ellipsis, never within an escape, a mention or a link."""
    return said if len(said) <= limit else f"{whole(said[: limit - 1]).rstrip()}…"


def clip_bytes(said: str, limit: int) -> str:
    """Shorten mrkdwn as ``clip`` does, to at most ``limit`` bytes of UTF-8."""
    written, end = said.encode(), "…"
    if len(written) <= limit:
        return said
    kept = written[: limit - len(end.encode())].decode(errors="ignore")  # without half a character
    return f"{whole(kept).rstrip()}{end}"


def whole(said: str) -> str:
    """Remove the partial escape, mention or link at the end of mrkdwn that was cut."""
    return UNFINISHED.sub("", said)


def people(text: str) -> list[str]:
    """Return the ids of everyone mentioned in a text, in order."""
    return MENTION.findall(text)


def plain(text: str, *, name_of: Callable[[str], str]) -> str:
    """Convert a stored message to plain text; ``name_of`` gives a person's name by id."""
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

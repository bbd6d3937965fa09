"""Messages that people wrote in Slack, as plain text with author and link."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from incidents.models import Person
from integrations.slack.adapter import current
from integrations.slack.interaction import block_words
from integrations.slack.protocol import mrkdwn

QUOTED: Final = re.compile(r"[\"'`\u2018\u201c\u201e\u00ab](.*)[\"'`\u2019\u201d\u201c\u00bb]", re.DOTALL)
HOSTED: Final = frozenset({"hosted", "snippet"})
FILES: Final = 10
FAR_S: Final = 1e11  # seconds, thousands of years; larger values are not real times


@dataclass(frozen=True, slots=True)
class SharedFile:
    """A file that someone shared; it is downloaded by its id."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class WrittenMessage:
    """What someone wrote: ``ref`` identifies it for good, ``ts`` is its time, ``stamp`` the time of its last change."""

    text: str
    author: str
    ref: str
    ts: str
    link: str
    files: tuple[SharedFile, ...] = ()
    stamp: float = 0.0


def of(message: Mapping[str, Any], *, channel_id: str) -> WrittenMessage:
    """Read a message from Slack's JSON."""
    ts = str(message["ts"])
    files, last = tuple(files_of(message)), stamp(message)
    return WrittenMessage(said(message), _author(message), ref(channel_id, ts), ts, link(channel_id, ts), files, last)


def said(message: Mapping[str, Any]) -> str:
    """Return what a message says in plain text; if it has no text of its own, that of its blocks and files."""
    text = str(message.get("text") or "")
    if text.strip() and text not in block_words.NOTHING:
        return typed(text)
    files = [str(one.get("title") or one.get("name") or "a file") for one in message.get("files") or ()]
    return "\n".join(filter(None, [block_words.of(message, plain=typed), *files]))


def stamp(message: Mapping[str, Any]) -> float:
    """Return when a message got its current words, in seconds of Slack's clock; 0 if that is not stated.

    Slack gives the time of an edit in whole seconds, so two stamps in one second have no order (``at_once``).
    """
    edited = message.get("edited")
    return max(_seconds(message.get("ts")), _seconds((edited if isinstance(edited, dict) else {}).get("ts")))


def at_once(one: float, other: float) -> bool:
    """Return whether two stamps are in the same second and so have no order."""
    return int(one) == int(other)


def _seconds(said: object) -> float:
    try:
        found = float(said or 0)  # type: ignore[arg-type]  # what Slack sends may be anything
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return found if 0 < found < FAR_S else 0.0


def files_of(holder: Mapping[str, Any]) -> list[SharedFile]:
    """Read the files of a message or a field, without those Slack only links to or has deleted."""
    listed = holder.get("files")
    held = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    return [
        SharedFile(str(one["id"]), str(one.get("name") or one.get("title") or "file"))
        for one in held
        if one.get("id") and one.get("mode", "hosted") in HOSTED
    ][:FILES]


def ref(channel_id: str, ts: str) -> str:
    """Return the reference of a message."""
    return f"{channel_id}:{ts}"


def link(channel_id: str, ts: str) -> str:
    """Return a message's URL."""
    slack = current.slack()
    return slack.identity.message_url(channel_id, ts) if slack else ""


def typed(said: str) -> str:
    """Convert typed or stored text to plain text: mentions become names, links URLs."""
    ids = mrkdwn.people(said)
    names = dict(Person.objects.filter(chat_id__in=ids).values_list("chat_id", "name")) if ids else {}
    return mrkdwn.plain(said, name_of=lambda chat_id: names.get(chat_id, chat_id))


def one_line(said: str, limit: int) -> str:
    """Return typed text for use between backticks: on one line, with at most ``limit`` characters."""
    return mrkdwn.escape(mrkdwn.cut(" ".join(typed(said).replace("`", "'").split()), limit))


def _author(message: Mapping[str, Any]) -> str:
    person = Person.objects.filter(chat_id=message["user"]).first() if message.get("user") else None
    if person is not None:
        return person.name
    profile = message.get("user_profile") or message.get("bot_profile") or {}
    name = profile.get("real_name") or profile.get("name") or message.get("username") or message.get("user")
    return str(name or "someone")


def unquoted(said: str) -> str:
    """Remove the quotes around typed text, in any form a keyboard produces."""
    quoted = QUOTED.fullmatch(said.strip())
    return quoted[1] if quoted else said

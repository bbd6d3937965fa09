"""Convert typed text to Slack's format: names become references, and `&`, `<` and `>` are escaped."""

from __future__ import annotations

import re

from .workspace import Workspace

_CODED = re.compile(r"<([^<>]+)>")
_TYPED = re.compile(
    r"(?P<link>https?://(?:(?!&[lg]t;)[^\s<>|])*(?<![.,;:!?)]))|(?P<at>(?<![\w<])@[\w.\-]+)|(?P<hash>(?<![\w<&])#[\w\-]+)"
)


def encode(workspace: Workspace, typed: str, *, by: str) -> str:
    """Return typed text, given by id, the way Slack passes it to apps."""
    escaped = typed.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _TYPED.sub(lambda match: _reference(workspace, match, by), escaped)


def _reference(workspace: Workspace, match: re.Match[str], by: str) -> str:
    word = match.group()
    if match["link"]:
        return f"<{word}>"
    bare = word[1:].rstrip(".")
    rest = word[1 + len(bare) :]
    if match["hash"]:
        named = (c for c in workspace.channels.values() if c.name == bare and not c.is_direct)
        channel = next((c for c in named if not c.is_private or by in c.members), None)
        return f"<#{channel.id}|{'' if channel.is_private else channel.name}>{rest}" if channel else word
    person = next((p for p in workspace.people.values() if p.handle == bare), None)
    if person:
        return f"<@{person.id}|{person.handle}>{rest}"
    group = workspace.group_named(bare)
    return f"<!subteam^{group.id}|@{group.handle}>{rest}" if group and group.handle == bare else word


def decode(workspace: Workspace, text: str) -> str:
    """Return a message's text as its author would type it again."""
    typed = _CODED.sub(lambda match: _as_typed(workspace, match[1]), text)
    return typed.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _as_typed(workspace: Workspace, coded: str) -> str:
    target, _, label = coded.partition("|")
    if target.startswith("@"):
        person = workspace.people.get(target[1:])
        return f"@{person.handle}" if person else f"@{label}"
    if target.startswith("#"):
        channel = workspace.channels.get(target[1:])
        return f"#{channel.name}" if channel else f"#{label}"
    return label if target.startswith("!") else target


def in_message(encoded: str) -> str:
    """Return the same text as in messages: people without their handle."""
    return re.sub(r"<@(\w+)\|[^>]*>", r"<@\1>", encoded)

"""A workspace as JSON text and back, so that a demo finds its data again."""

from __future__ import annotations

import base64
import json
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from .workspace import Channel, Ephemeral, File, Group, Message, Note, Person, View, Workspace

if TYPE_CHECKING:
    from .core import FakeSlack

VERSION = 1


def dump(slack: FakeSlack) -> dict[str, Any]:
    """Return everything worth keeping, as plain values."""
    with slack.lock:
        return {
            "version": VERSION,
            "serial": slack.serial(),
            "last_ts": slack.last_ts,
            "workspace": plain(slack.workspace),
        }


def plain(value: Any) -> Any:
    """Return records as dictionaries, all the way down."""
    if is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, list):
        return [plain(part) for part in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value


def restore(slack: FakeSlack, text: str) -> None:
    """Put back what `dump` returned. Raises ValueError if the text is not such a snapshot."""
    kept = json.loads(text)
    if kept.get("version") != VERSION:
        raise ValueError(f"snapshot version {kept.get('version')!r} is not {VERSION}")
    slack.replace(workspace_from(kept["workspace"]))
    slack.resume(serial=kept["serial"], last_ts=kept["last_ts"])


def workspace_from(kept: dict[str, Any]) -> Workspace:
    """Build a workspace from plain values."""
    parts: dict[str, Any] = dict(kept)
    for name, record in (("people", Person), ("groups", Group), ("views", View), ("ephemerals", Ephemeral)):
        parts[name] = {id: record(**about) for id, about in kept.get(name, {}).items()}
    parts["files"] = {id: _file(about) for id, about in kept.get("files", {}).items()}
    parts["channels"] = {id: _channel(about) for id, about in kept.get("channels", {}).items()}
    return Workspace(**parts)


def _channel(about: dict[str, Any]) -> Channel:
    parts = dict(about)
    parts["topic"], parts["purpose"] = Note(**about["topic"]), Note(**about["purpose"])
    parts["messages"] = {ts: Message(**m) for ts, m in about["messages"].items()}
    return Channel(**parts)


def _file(about: dict[str, Any]) -> File:
    return File(**{**about, "content": base64.b64decode(about["content"])})

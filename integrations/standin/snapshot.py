"""Convert records to plain values and back, so that a demo keeps its data across restarts."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints


def plain(value: Any) -> Any:
    """Return records as dictionaries, recursively."""
    match value:
        case str() | float() | int() | None:
            return value
        case dict():
            return {name: plain(part) for name, part in value.items()}
        case list() | tuple():
            return [plain(part) for part in value]
        case bytes():
            return base64.b64encode(value).decode()
    if not is_dataclass(value):
        return value
    kind: type = type(value)
    return {name: plain(getattr(value, name)) for name in _names(kind)}


def built(kind: Any, value: Any) -> Any:
    """Build a record, or lists and dictionaries of records, from plain values; unknown fields are ignored."""
    if kind is bytes:
        return base64.b64decode(value)
    if isinstance(kind, type) and is_dataclass(kind):
        hints = _hints(kind)
        return kind(**{name: built(hints[name], part) for name, part in value.items() if name in hints})
    match get_origin(kind), get_args(kind):
        case origin, (part,) if origin is list:
            return [built(part, one) for one in value]
        case origin, (_, part) if origin is dict:
            return {name: built(part, one) for name, one in value.items()}
    return value


def must_be(version: int, kept: Mapping[str, Any]) -> None:
    """Raise ValueError if a snapshot has another version or none."""
    if kept.get("version") != version:
        raise ValueError(f"snapshot version {kept.get('version')!r} is not {version}")


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind))

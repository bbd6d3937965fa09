"""An account as plain values and back, so that a demo finds its data again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from .records import Account

if TYPE_CHECKING:
    from .core import FakeAccount

VERSION = 1


def dump(account: FakeAccount) -> dict[str, Any]:
    """Return everything worth keeping, as plain values."""
    with account.lock:
        return {"version": VERSION, "serial": account.serial(), "account": plain(account.account)}


def plain(value: Any) -> Any:
    """Return records as dictionaries, all the way down."""
    match value:
        case str() | float() | int() | None:
            return value
        case dict():
            return {name: plain(part) for name, part in value.items()}
        case list():
            return [plain(part) for part in value]
    kind: type = type(value)
    return {name: plain(getattr(value, name)) for name in _names(kind)}


def restore(account: FakeAccount, kept: Mapping[str, Any]) -> None:
    """Put back what `dump` returned. Raises ValueError if it is not such a snapshot."""
    if kept.get("version") != VERSION:
        raise ValueError(f"snapshot version {kept.get('version')!r} is not {VERSION}")
    account.replace(built(Account, kept["account"]), serial=kept["serial"])


def built(kind: Any, value: Any) -> Any:
    """Build a record, or lists and dictionaries of records, from plain values."""
    if isinstance(kind, type) and is_dataclass(kind):
        hints = _hints(kind)
        return kind(**{name: built(hints[name], part) for name, part in value.items() if name in hints})
    match get_origin(kind), get_args(kind):
        case origin, (part,) if origin is list:
            return [built(part, one) for one in value]
        case origin, (_, part) if origin is dict:
            return {name: built(part, one) for name, one in value.items()}
    return value


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind))

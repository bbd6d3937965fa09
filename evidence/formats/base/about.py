"""What a file says of itself beside its samples, made fit to be shown and stored. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from evidence.formats.base.gather import CONTROL

# Of any list or mapping; more says nothing to people.
ENTRIES = 1000
TEXT = 2000
NESTED = 8


def clean(about: Mapping[str, Any]) -> dict[str, Any]:
    """Return plain values without what no database stores and no terminal bears: control characters, halves of one."""
    cleaned: dict[str, Any] = _clean(about, NESTED)
    return cleaned


def _clean(value: Any, left: int) -> Any:
    if isinstance(value, str):
        return CONTROL.sub(" ", value[:TEXT])
    if isinstance(value, Mapping):
        return {_clean(str(key), left): _clean(one, left - 1) for key, one in islice(value.items(), ENTRIES) if left}
    if isinstance(value, list | tuple):
        return [_clean(one, left - 1) for one in value[:ENTRIES] if left]
    return value

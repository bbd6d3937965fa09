"""A file's metadata, made fit to be shown and stored. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from evidence.formats.base.gather import CONTROL

# In any list or mapping; more is of no use to people.
ENTRIES = 1000
TEXT = 2000
NESTED = 8


def clean(about: Mapping[str, Any]) -> dict[str, Any]:
    """Return plain values without control characters and lone surrogates, which databases or terminals cannot take."""
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

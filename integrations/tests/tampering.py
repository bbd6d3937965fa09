"""Answers in which one field is missing, null or of another type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any, Final

Way = tuple[str | int, ...]
_GONE: Final = object()
_STRANGE: Final[tuple[object, ...]] = (_GONE, None, "", "odd", 35353, ["odd"], {"odd": "odd"})
# What no result may contain: a value read as a text that is none.
_TAKEN: Final = ("'None'", "'35353'", "\"['odd']\"", "\"{'odd'")


def tampered(answer: Any) -> Iterator[tuple[str, Any]]:
    """Yield an answer with another value in one place, for each place and value, and what was done to it."""
    for way in _ways(answer):
        for strange in _STRANGE:
            changed = deepcopy(answer)
            inside: Any = changed
            for step in way[:-1]:
                inside = inside[step]
            if type(strange) is int is type(inside[way[-1]]):
                continue  # another number is a number
            if strange is not _GONE:
                inside[way[-1]] = deepcopy(strange)
            elif isinstance(inside, dict):
                del inside[way[-1]]
            yield f"{way}: {'gone' if strange is _GONE else strange!r}", changed


def retold(kept: Sequence[tuple[int, Any]]) -> Iterator[tuple[str, list[tuple[int, Any]]]]:
    """Yield a conversation's answers, each a status and a body, with one of them tampered with, and what was done."""
    for n, (status, answer) in enumerate(kept):
        for how, changed in tampered(answer):
            yield how, [*kept[:n], (status, changed), *kept[n + 1 :]]


def taken(result: object) -> list[str]:
    """Return what a result contains that no vendor said."""
    return [one for one in _TAKEN if one in repr(result)]


def _ways(value: object, so_far: Way = ()) -> Iterator[Way]:
    """Yield the way to every field, however deep; of a list, only into its first two items."""
    items = list(value.items()) if isinstance(value, dict) else []
    if isinstance(value, list):
        items = list(enumerate(value[:2]))
    for name, inside in items:
        yield (*so_far, name)
        yield from _ways(inside, (*so_far, name))

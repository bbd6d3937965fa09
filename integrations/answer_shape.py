"""What is read of a vendor's answer, and of which type it must be. A field of another type is never taken for one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

EACH: Final = "[]"
NEEDED: Final = "!"
NUMBER: Final = "#"
TIME: Final = "@"
FLAG: Final = "?"


def _is_time(value: object) -> bool:
    try:
        return isinstance(value, str) and bool(datetime.fromisoformat(value))
    except ValueError:
        return False


IS: Final[dict[str, Callable[[object], bool]]] = {
    "": lambda value: isinstance(value, str),
    NUMBER: lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    TIME: _is_time,
    FLAG: lambda value: isinstance(value, bool),
}


@dataclass(frozen=True, slots=True)
class _Field:
    path: tuple[str, ...]
    is_needed: bool
    type: str
    words: frozenset[str]  # the texts it may be; any if empty


AnswerShape = tuple[_Field, ...]


def shape(text: str) -> AnswerShape:
    """Read the paths of an answer's fields: `channel.id! channel.created# messages[].text`.

    Each is a text, with `#` a number, with `@` a date or a time, with `?` true or false; `status=open|closed` is one of
    these words. `[]` is a list. With `!` it is needed, and so is everything around it; a needed text is not empty. Any
    other may be missing or null.
    """
    return tuple(map(_field, text.split()))


def within(place: str, *texts: str) -> str:
    """Return the paths of these texts as those of what is in a place: `within("user", "id! name")`."""
    return " ".join(f"{place}.{one}" for text in texts for one in text.split())


def fits(answer: object, wanted: AnswerShape) -> bool:
    """Return whether an answer has every needed field, and no known field of another type."""
    return all(_fits(answer, one.path, one) for one in wanted)


def _field(text: str) -> _Field:
    path, _, words = text.rstrip(NEEDED + NUMBER + TIME + FLAG).partition("=")
    type = next((one for one in (NUMBER, TIME, FLAG) if one in text), "")
    parts = path.replace(EACH, f".{EACH}").split(".")
    allowed = frozenset(words.split("|")) if words else frozenset()
    return _Field(tuple(part for part in parts if part), text.endswith(NEEDED), type, allowed)


def _fits(value: object, path: tuple[str, ...], field: _Field) -> bool:
    if value is None:
        return not field.is_needed
    if not path:
        is_one = IS[field.type](value) and (not field.words or value in field.words)
        return is_one and (value != "" or not field.is_needed)
    first, rest = path[0], path[1:]
    if first == EACH:
        return isinstance(value, list) and all(one is not None and _fits(one, rest, field) for one in value)
    return isinstance(value, Mapping) and _fits(value.get(first), rest, field)

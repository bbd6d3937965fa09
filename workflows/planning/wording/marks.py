"""Parts of our words that each vendor shows in its own way: people, times, channels. Pure.

A mark is a value next to the words and never part of them: whatever people type stays text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Final

OUTLET: Final = "outlet"


@dataclass(frozen=True, slots=True)
class TextMark:
    """Something for the vendor to show in its own way, by ``id``; ``label`` is its plain text.

    ``kind`` is ``person`` (an id in the chat), ``time`` or ``ago`` (seconds since 1970), ``channel`` (an id in the
    chat), or ``room``, one of the incident's own by number, or ``outlet``, which becomes a channel once that is made.
    """

    kind: str
    id: str
    label: str = ""


Part = str | TextMark
Words = str | tuple[Part, ...]


def when(at: datetime) -> TextMark:
    """Mark a time, which each reader sees in their own zone."""
    return TextMark("time", str(int(at.timestamp())), f"{at:%Y-%m-%d %H:%M} UTC")


def ago(at: datetime) -> TextMark:
    """Mark how long ago a time was when the reader looks: it stays true without an edit."""
    return replace(when(at), kind="ago")


def room(which: int | str) -> TextMark:
    """Mark one of the incident's rooms, or its outlet."""
    return TextMark("room", str(which), "its channel")


def parts(words: Words) -> Iterator[Part]:
    """Yield texts and marks in order."""
    yield from (words,) if isinstance(words, str) else words


def joined(*several: Words) -> Words:
    """Join words one after the other."""
    found = tuple(part for words in several for part in parts(words))
    return "".join(map(str, found)) if all(isinstance(part, str) for part in found) else found


def bare(words: Words) -> str:
    """Return words as plain text, using the marks' labels."""
    return "".join(part if isinstance(part, str) else part.label or part.id for part in parts(words))


def shown(words: Words, *, text: Callable[[str], str], mark: Callable[[TextMark], str]) -> str:
    """Render words for one vendor, with its own form of texts and of marks."""
    return "".join(text(part) if isinstance(part, str) else mark(part) for part in parts(words))


def replaced(words: Words, mark: Callable[[TextMark], Part]) -> Words:
    """Replace each mark."""
    return words if isinstance(words, str) else tuple(mark(p) if isinstance(p, TextMark) else p for p in words)


def as_plain(words: Words) -> Any:
    """Return plain values that JSON can hold."""
    return words if isinstance(words, str) else [asdict(p) if isinstance(p, TextMark) else p for p in words]


def from_plain(kept: Any) -> Words:
    """Build words from their stored form."""
    return kept if isinstance(kept, str) else tuple(TextMark(**p) if isinstance(p, dict) else p for p in kept)

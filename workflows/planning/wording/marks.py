"""What each vendor shows in its own way within our words: people, times, channels. Pure.

A mark is a value beside the words and never a part of them: whatever people type stays text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Final

OUTLET: Final = "outlet"


@dataclass(frozen=True, slots=True)
class TextMark:
    """Something to show in the vendor's way, by ``id``; ``label`` is how it reads where that cannot be.

    ``kind`` is ``person`` (an id of the chat's), ``time`` or ``ago`` (seconds since 1970), ``channel`` (an id of the
    chat's), or ``room``, one of the incident's own by number, or ``outlet``, which becomes a channel once that is made.
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
    """Mark how long ago a time was, as each reader sees it when they look: it stays true without an edit."""
    return replace(when(at), kind="ago")


def room(which: int | str) -> TextMark:
    """Mark one of the incident's rooms, or its outlet."""
    return TextMark("room", str(which), "its channel")


def parts(words: Words) -> Iterator[Part]:
    """Yield texts and marks in order."""
    yield from (words,) if isinstance(words, str) else words


def joined(*several: Words) -> Words:
    """Put words one after the other."""
    found = tuple(part for words in several for part in parts(words))
    return "".join(map(str, found)) if all(isinstance(part, str) for part in found) else found


def bare(words: Words) -> str:
    """Say words without anything to show in a vendor's way."""
    return "".join(part if isinstance(part, str) else part.label or part.id for part in parts(words))


def shown(words: Words, *, text: Callable[[str], str], mark: Callable[[TextMark], str]) -> str:
    """Write words for one vendor: its own form of texts, and of marks."""
    return "".join(text(part) if isinstance(part, str) else mark(part) for part in parts(words))


def replaced(words: Words, mark: Callable[[TextMark], Part]) -> Words:
    """Put something else in the place of each mark."""
    return words if isinstance(words, str) else tuple(mark(p) if isinstance(p, TextMark) else p for p in words)


def as_plain(words: Words) -> Any:
    """Return plain values that JSON can hold."""
    return words if isinstance(words, str) else [asdict(p) if isinstance(p, TextMark) else p for p in words]


def from_plain(kept: Any) -> Words:
    """Build words from their stored form."""
    return kept if isinstance(kept, str) else tuple(TextMark(**p) if isinstance(p, dict) else p for p in kept)

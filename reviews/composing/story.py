"""The timeline as a review reads it: entries that still stand, up to the one a section was composed to. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from incidents.reading.catch_up import SaidEntry


@dataclass(frozen=True, slots=True)
class StoryEntry:
    """An entry with its original text and its edits, each with the number of the entry that made it.

    A retracted or redacted entry does not ``stand``, and is never shown again, even in a section composed before that.
    """

    n: int
    kind: str
    at: datetime
    by: str = ""
    text: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    edits: tuple[tuple[int, str], ...] = ()
    stands: bool = True

    def as_of(self, n: int) -> SaidEntry:
        """Return the entry with the text it had once entry ``n`` was written."""
        text = [self.text, *(words for number, words in self.edits if number <= n)][-1]
        return SaidEntry(self.n, self.kind, self.at, self.by, " ".join(text.split()), self.data)


@dataclass(frozen=True, slots=True)
class ReviewStory:
    """What a section is composed of: entries that stand, in the order things happened.

    ``pages`` are the names of pages by key.
    """

    said: tuple[SaidEntry, ...]
    pages: Mapping[str, str] = field(default_factory=dict)

    def of(self, *kinds: str) -> Iterator[SaidEntry]:
        """Yield the entries of some kinds."""
        return (one for one in self.said if one.kind in kinds)

    def newest(self, *kinds: str) -> list[SaidEntry]:
        """Return the entry of some kinds that was written last, in a list, or an empty list."""
        return sorted(self.of(*kinds), key=lambda one: one.n)[-1:]


def as_of(entries: Sequence[StoryEntry], n: int, *, pages: Mapping[str, str]) -> ReviewStory:
    """Return the story up to entry ``n``, without what was retracted or redacted since."""
    said = (one.as_of(n) for one in entries if one.n <= n and one.stands)
    return ReviewStory(tuple(sorted(said, key=lambda one: (one.at, one.n))), pages)

"""Which policies and schedules a search means: words in any order, ignoring case and accents. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

LIKE: Final = 0.65  # minimum similarity of a name, or a word of one, as difflib measures it
WORD: Final = re.compile(r"\w{3,}")


def says(q: str, names: Iterable[str]) -> bool:
    """Return whether every word is part of one of these names; an empty search matches."""
    known = [folded(name) for name in names]
    return all(any(word in name for name in known) for word in folded(q).split())


def said_first(q: str, names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the names that contain one of the words, then the others, each in their order."""
    words, names = folded(q).split(), list(names)
    found = [name for name in names if any(word in folded(name) for word in words)]
    return found, [name for name in names if name not in found]


def nearest(q: str, names: Iterable[str]) -> str:
    """Return the name closest to what was typed, as a whole or by one of its words; empty if none is close."""
    known: dict[str, str] = {}
    for name in names:
        for part in (folded(name), *WORD.findall(folded(name))):
            known.setdefault(part, name)
    close = get_close_matches(" ".join(folded(q).split()), known, n=1, cutoff=LIKE)
    return known[close[0]] if close else ""


def folded(text: str) -> str:
    """Return a text as it is compared: without case and diacritics."""
    bare = unicodedata.normalize("NFKD", text.casefold())
    return "".join(one for one in bare if not unicodedata.combining(one)).casefold()

"""What a search without results may have meant: the nearest words in titles and names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

from incidents import visibility
from incidents.models import Person

LOOKED_AT: Final = 500  # incidents whose words are compared: open ones, then the newest
LIKE: Final = 0.75  # minimum similarity of two words, as difflib computes it
PLAIN: Final = re.compile(r"[\w\s-]+")  # with quotes and other operators, exactly this is meant
WORD: Final = re.compile(r"[\w-]{3,}")


def of(q: str, *, person: Person) -> str:
    """Return what ``person`` may have meant, by the words of incidents that they may see; empty if nothing is near.

    One query, however many incidents there are.
    """
    seen = visibility.visible_to(person).order_by("-active", "-declared_at", "-pk")
    said = seen.values_list("title", "codename", "services")[:LOOKED_AT]
    return nearest(q, (" ".join((title, codename, *services)) for title, codename, services in said))


def nearest(q: str, said: Iterable[str]) -> str:
    """Return a search with unknown words replaced by the nearest known ones; empty if none has a near one. Pure."""
    if not PLAIN.fullmatch(q):
        return ""
    known = {part for text in said for word in WORD.findall(text.casefold()) for part in (word, *word.split("-"))}
    asked = q.casefold().split()
    meant = [word if word in known else (get_close_matches(word, known, 1, LIKE) or [word])[0] for word in asked]
    return "" if meant == asked else " ".join(meant)

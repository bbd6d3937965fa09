"""Which open incidents a new one may be about, by the words of its title."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from difflib import get_close_matches
from functools import lru_cache
from typing import Final

from django.db import connection

from incidents import visibility
from incidents.models import Incident, Person

LOOKED_AT: Final = 200  # the newest open incidents, whose titles are compared
SHOWN: Final = 3
FIELDS: Final = ("id", "codename", "title", "declared_at")  # in the order of the model
OPEN: Final = """
    SELECT i.id, i.codename, i.title, i.declared_at::text FROM incidents_incident i
     WHERE i.active AND NOT i.is_drill AND {seen} ORDER BY i.declared_at DESC, i.id DESC LIMIT %s
"""
KEPT: Final = 500  # cached titles: every declaration compares the same ones
LIKE: Final = 0.85  # minimum similarity of two words, as difflib computes it: allows for a typo
WORD: Final = re.compile(r"[\w-]{3,}")
# Words that say that something is wrong, but not what: by themselves they do not make two titles alike.
SAYS_LITTLE: Final = frozenset({
    "about", "after", "again", "all", "and", "any", "are", "bad", "been", "broken", "but", "can", "cannot",
    "customers", "degraded", "does", "doesn", "down", "error", "errors", "every", "everybody", "everyone",
    "everything", "fail", "failed", "failing", "fails", "failure", "failures", "for", "from", "has", "have",
    "hours", "incident", "into", "is", "issue", "issues", "its", "long", "many", "minutes", "more", "most",
    "nobody", "none", "not", "nothing", "off", "one", "our", "out", "outage", "over", "people", "problem",
    "problems", "seconds", "since", "slow", "slower", "slowly", "some", "still", "stopped", "than", "that", "the",
    "their", "them", "then", "there", "they", "this", "time", "times", "too", "unavailable", "users", "very", "was",
    "when", "where", "which", "while", "will", "with", "without", "wrong", "your",
})  # fmt: skip


def near(title: str, *, person: Person) -> list[Incident]:
    """Return the open incidents that ``person`` may see and whose titles share telling words with this one.

    Those that share the most come first, then the newest. At most one query; drills are left out.
    """
    said = words(title)
    if not said - SAYS_LITTLE:
        return []
    seen, params = visibility.condition(person, table="i")
    with connection.cursor() as cursor:
        cursor.execute(OPEN.format(seen=seen), [*params, LOOKED_AT])
        rows = {row[0]: row for row in cursor.fetchall()}
    counts = alike(said, {pk: words(other) for pk, _, other, _ in rows.values()})
    nearest = sorted(filter(counts.get, counts), key=lambda pk: -counts[pk])[:SHOWN]
    return [_built(*rows[pk]) for pk in nearest]  # and no other: most of a declaration would go into their times


def _built(id: int, codename: str, title: str, declared_at: str) -> Incident:
    return Incident.from_db(connection.alias, FIELDS, [id, codename, title, datetime.fromisoformat(declared_at)])


@lru_cache(maxsize=KEPT)
def words(title: str) -> frozenset[str]:
    """Return the words of a title, and the parts of those with a hyphen. Pure."""
    found = WORD.findall(title.casefold())
    return frozenset(part for word in found for part in (word, *word.split("-")) if len(part) > 2)


def alike(said: frozenset[str], others: Mapping[int, frozenset[str]]) -> dict[int, int]:
    """Count the words that each of some titles shares with this one, including typos. Pure.

    The count is 0 for a title that shares only words that say little. Each word is compared once, however many titles
    it is in.
    """
    known = frozenset().union(*others.values()) - SAYS_LITTLE
    telling = said - SAYS_LITTLE
    close = {word: frozenset(get_close_matches(word, known, max(len(known), 1), LIKE)) for word in telling}
    counts = {}
    for pk, other in others.items():
        both = said & other
        slips = {word for word in telling - both if close[word] & other}
        counts[pk] = len(both | slips) if both - SAYS_LITTLE or slips else 0
    return counts

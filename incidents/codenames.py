"""Two plain words for an incident or a room: never reused, and never revealing what it is about.

The registry's primary key decides who gets a name, so that two declarations at once cannot take the same one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from secrets import SystemRandom
from typing import Any, Final

import coolname
from coolname.data import config
from django.conf import settings
from django.db import connection

# Random numbers from the kernel: someone who saw many codenames must not be able to work out the private ones between.
coolname.replace_random(SystemRandom())

# Words of the library that no incident is named with: about people, rude, or saying something of the incident's state.
UNFIT: Final = frozenset({
    "aboriginal", "anger", "ape", "artificial", "atheism", "attack", "belligerent", "berserk", "booby", "chubby",
    "cocky", "crazy", "criticism", "curvy", "dangerous", "demonic", "devious", "devout", "domination", "ecstasy",
    "fanatic", "fat", "feminism", "fertility", "fictional", "frisky", "gay", "girlish", "godlike", "hairy", "hell",
    "heretic", "hot", "hysterical", "illegal", "imaginary", "imperial", "kickass", "killer", "legal", "loutish",
    "macho", "major", "manipulative", "married", "military", "mongrel", "monkey", "mutant", "naked", "native",
    "naughty", "normal", "obedient", "orthodox", "passion", "passionate", "petite", "pig", "pompous",
    "primitive", "psychedelic", "pygmy", "radical", "rat", "real", "satiation", "sexy", "shapeless", "skinny", "slim",
    "sloppy", "sly", "snobbish", "stereotyped", "swine", "swinging", "tacky", "unreal", "uptight", "vengeful",
    "venomous", "weird", "witchcraft",
})  # fmt: skip

LISTS: Final[Mapping[str, Any]] = config
WORDS: Final = {name: frozenset(about["words"]) for name, about in LISTS.items() if "words" in about}
PHRASES: Final = {name: frozenset(map(tuple, about["phrases"])) for name, about in LISTS.items() if "phrases" in about}
ANIMALS: Final = WORDS["animal"] | WORDS["animal_breed"] | WORDS["animal_legendary"]  # what a pair ends in
ANIMALS_OF_TWO_WORDS: Final = PHRASES["subj2"]
KNOWN: Final = frozenset({"of", "from"}).union(*WORDS.values(), *(words for said in PHRASES.values() for words in said))

DRILL = "drill-"  # so that every name of a drill shows that it is one

TAKE = """
    INSERT INTO incidents_codename (name, room, private, incident_id) VALUES (%s, %s, %s, %s)
    ON CONFLICT DO NOTHING RETURNING name
"""


TAKE_FIRST = """
    INSERT INTO incidents_codename (name, room, private, incident_id)
    VALUES (%s, 1, %s, nextval(pg_get_serial_sequence('incidents_incident', 'id')))
    ON CONFLICT DO NOTHING RETURNING incident_id
"""


def first(*, private: bool, is_drill: bool = False) -> tuple[str, int]:
    """Take a codename for an incident that is about to be inserted; return it with the primary key it is for.

    A drill's begins with ``drill-``. The reference is checked when the transaction commits, so the incident may be
    inserted after its name. Raises ``RuntimeError`` if no unused name was found.
    """
    with connection.cursor() as cursor:
        for name in _names(is_drill=is_drill):
            cursor.execute(TAKE_FIRST, [name, private])
            if row := cursor.fetchone():
                return name, row[0]
    raise RuntimeError("no unused codename could be found")


def alone() -> str:
    """Take a codename that leads to no incident, in the caller's transaction."""
    return fresh(room=1, private=False, incident_id=None)


def fresh(*, room: int, private: bool, incident_id: int | None, is_drill: bool = False) -> str:
    """Take a codename for another room of an incident, in the caller's transaction.

    Raises ``RuntimeError`` if no unused name was found.
    """
    with connection.cursor() as cursor:
        for name in _names(is_drill=is_drill):
            cursor.execute(TAKE, [name, room, private, incident_id])
            if cursor.fetchone():
                return name
    raise RuntimeError("no unused codename could be found")


def _names(*, is_drill: bool = False, words: int = 2, tries: int = 20) -> Iterator[str]:
    """Yield the demo's preset names, then pairs, then triples: about 250,000 pairs, tens of millions of triples.

    Preset names are for incidents only: a drill of the same name would read as a drill of that incident.
    """
    before = DRILL if is_drill else ""
    yield from () if is_drill else settings.FIREKIND.codenames
    for count in (words, words + 1):
        slugs = (coolname.generate_slug(count) for _ in range(tries))
        yield from (before + slug for slug in slugs if is_fit(slug))


def is_fit(slug: str) -> bool:
    """Return whether a name could be said to a customer in the middle of the night. Pure."""
    return UNFIT.isdisjoint(slug.split("-"))


def is_one(name: str) -> bool:
    """Return whether a name reads like one that Firekind gives: words of the library, including an animal. Pure."""
    words = name.split("-")
    if len(words) < 2 or not KNOWN.issuperset(words):
        return False
    return not ANIMALS.isdisjoint(words) or not ANIMALS_OF_TWO_WORDS.isdisjoint(pairwise(words))

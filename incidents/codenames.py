"""Two plain words for an incident or a room; never the same twice, never telling what it is about."""

from __future__ import annotations

import coolname
from django.db import connection

TAKE = "INSERT INTO incidents_codename (name, room, private) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING RETURNING name"


def fresh(*, room: int = 1, private: bool = False, words: int = 2, tries: int = 20) -> str:
    """Take a codename that was never used, and record it in the caller's transaction.

    The registry's primary key decides, so that two declarations at once cannot take the same. After ``tries``
    clashes a third word is added: there are about 300,000 pairs and tens of millions of triples.
    """
    with connection.cursor() as cursor:
        for attempt in range(tries * 2):
            name = coolname.generate_slug(words if attempt < tries else words + 1)
            cursor.execute(TAKE, [name, room, private])
            if cursor.fetchone():
                return name
    raise RuntimeError("no unused codename could be found")

"""The words by which a search finds an incident: added with each entry, recomputed when some are removed."""

from __future__ import annotations

from typing import Final

from django.db import connection

from incidents.indexing import identifiers
from incidents.models import Incident

SEARCH_CONFIG: Final = "english"
WORDS_BYTES: Final = 600_000
SAYS: Final = "says"  # key of an entry's data: the sentence that evidence shows, which is also searched

# PostgreSQL refuses a vector larger than a megabyte, and the entry with it. Words past this limit (pasted logs) are
# recorded, but a search does not find them.
#
# SQL: the words of an incident ``i``, with those of ``said`` added.
WITH_WORDS: Final = f"""
    CASE WHEN said.words = '' OR octet_length(i.words::text) > %(most)s THEN i.words
         ELSE coalesce(i.words, ''::tsvector)
              || strip(to_tsvector('english', {identifiers.with_parts("said.words")})) END
"""
# More text to search with the incident whose key is ``{incident}``, readable by everyone who may see the incident. Each
# is a SELECT of an ``n``, a text, its address below the incident's (``place``) and what that place is ``called``. Apps
# built on incidents append their own.
also_said: Final[list[str]] = []
# The current words of an incident, each with its first place: if there are too many, the latest are left out.
_INDEX: Final = f"""
    WITH said AS (
        SELECT n, text FROM incidents_event WHERE incident_id = %(incident)s AND text <> ''
         UNION ALL
        SELECT n, data ->> 'summary' FROM incidents_event
         WHERE incident_id = %(incident)s AND kind = 'declared' AND data ? 'summary'
         UNION ALL
        SELECT n, data ->> '{SAYS}' FROM incidents_event e
         WHERE incident_id = %(incident)s AND data ? '{SAYS}' AND NOT EXISTS (
               SELECT FROM incidents_event c WHERE c.incident_id = e.incident_id AND c.about_n = e.n)
         UNION ALL
        SELECT 0, title || ' ' || summary FROM incidents_incident WHERE id = %(incident)s
        {{also}}),
    firsts AS (
        SELECT lexeme, min(n) AS n
          FROM said, unnest(to_tsvector('english', {identifiers.with_parts("text")})) GROUP BY lexeme),
    sized AS (SELECT lexeme, sum(octet_length(lexeme) + 4) OVER (ORDER BY n, lexeme) AS size FROM firsts)
    UPDATE incidents_incident
       SET words = (SELECT array_to_tsvector(coalesce(array_agg(lexeme), '{{{{}}}}')) FROM sized WHERE size <= %(most)s)
     WHERE id = %(incident)s
"""  # noqa: S608 (put together of constants)


def index_again(incident: Incident) -> None:
    """Recompute the words a search finds from the current timeline; in the caller's transaction."""
    own = (select.format(incident="%(incident)s") for select in also_said)
    also = "".join(f" UNION ALL SELECT n, text FROM ({select}) elsewhere" for select in own)  # noqa: S608 (constants)
    with connection.cursor() as cursor:
        cursor.execute(_INDEX.format(also=also), {"incident": incident.pk, "most": WORDS_BYTES})


_ADD: Final = f"""
    UPDATE incidents_incident i SET words = {WITH_WORDS}
      FROM (VALUES (%(words)s::text)) AS said (words)
     WHERE id = %(incident)s
"""  # noqa: S608 (put together of constants)


def add_words(incident: Incident, text: str) -> None:
    """Have a search find an incident by a text that is not an entry, in the caller's transaction."""
    with connection.cursor() as cursor:
        cursor.execute(_ADD, {"incident": incident.pk, "words": text, "most": WORDS_BYTES})


def words_of(text: str) -> str:
    """Return the SQL of a text's words, without positions, for the search; ``text`` is SQL too."""
    words = f"strip(to_tsvector('{SEARCH_CONFIG}', {identifiers.with_parts('said.text')}))"
    return f"(SELECT {words} FROM (VALUES ({text}::text)) AS said (text))"  # noqa: S608 (put together of constants)

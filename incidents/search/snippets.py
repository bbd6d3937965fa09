"""Where a search hit: an excerpt of the newest matching entry, else of other text, with the found words marked."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from django.db import connection

from incidents.indexing import word_index
from incidents.search import query_text

BEGIN, END = "\x02", "\x03"  # cannot be in any text, because control characters are removed on writing
LOOKED_AT: Final = 200  # the newest entries of each incident
# Matches any of the search words, because they may be in different entries. Entries that were edited, retracted or
# redacted are skipped: the page says something else now. That is a scalar subquery for each hit, because `NOT EXISTS`
# would become a join, with all entries parsed before the first is taken.
_WORDS: Final = "regexp_replace(querytree(websearch_to_tsquery(%(config)s, %(q)s)), '<(-|[0-9]+)>|&', '|', 'g')"
_BEGUN: Final = query_text.with_beginning(_WORDS)
_ANY: Final = query_text.with_either_sign(f"CASE WHEN %(is_begun)s THEN {_BEGUN} ELSE {_WORDS} END")
# A regular expression that an entry must match before it is parsed: parsing takes ten times as long as matching
# letters, and most entries have none of the words. A stem is its word's beginning except for the last letter (*happi*
# of *happy*); of a short stem only the first letter is certain (*die* of *dying*).
BEGINNING: Final = r"""
    regexp_replace(left(lexeme, CASE WHEN length(lexeme) < 4 THEN 1 ELSE length(lexeme) - 1 END),
                   '([^[:alnum:]])', '\\\1', 'g')"""
_LETTERS: Final = f"""
    SELECT string_agg({BEGINNING}, '|')
      FROM (SELECT ltrim(unnest(tsvector_to_array(to_tsvector(%(config)s, %(q)s))), '-') AS lexeme) of_all
"""  # noqa: S608 (put together of constants)
_HITS: Final = f"""
    WITH asked AS (SELECT NULLIF({_ANY}, 'T') AS words),
    query AS (SELECT words::tsquery AS any, ({_LETTERS}) AS letters FROM asked WHERE words <> '')
    SELECT i.id, ts_headline(%(config)s, i.title, query.any, %(whole)s), coalesce('#e' || hit.n, other.place, ''),
           coalesce(other.called, ''), ts_headline(%(config)s, coalesce(hit.text, other.text, ''), query.any, %(piece)s)
      FROM query CROSS JOIN incidents_incident i
      LEFT JOIN LATERAL (
           SELECT recent.n, recent.text FROM (
                  SELECT n, text, redacted FROM incidents_event e
                   WHERE e.incident_id = i.id AND e.text <> '' AND e.about_n IS NULL AND e.kind <> 'declared'
                   ORDER BY n DESC LIMIT %(most)s) recent
            WHERE recent.text ~* query.letters AND to_tsvector(%(config)s, recent.text) @@ query.any AND (
                  SELECT c.n FROM incidents_event c WHERE c.incident_id = i.id AND c.about_n = recent.n LIMIT 1) IS NULL
            ORDER BY recent.n DESC LIMIT 1) hit ON true
      LEFT JOIN LATERAL (
           SELECT said.text, said.place, said.called FROM ({{also}}) said
            WHERE hit.n IS NULL AND said.text ~* query.letters AND to_tsvector(%(config)s, said.text) @@ query.any
            ORDER BY said.place LIMIT 1) other ON true
     WHERE i.id = ANY(%(ids)s)
"""  # noqa: S608 (put together of constants)
_NOTHING: Final = "SELECT 0 AS n, '' AS text, '' AS place, '' AS called WHERE FALSE"
_PIECE: Final = f"StartSel={BEGIN}, StopSel={END}, MaxFragments=1, MinWords=8, MaxWords=22"
_WHOLE: Final = f"StartSel={BEGIN}, StopSel={END}, HighlightAll=true"


@dataclass(frozen=True, slots=True)
class Snippet:
    """The title with the found words marked, and an excerpt of the matching text, if any.

    ``place`` is the address of that text below the incident's; ``called`` is its name in words, empty for entries.
    """

    title: str
    place: str
    called: str
    piece: str


def of(ids: Collection[int], q: str) -> dict[int, Snippet]:
    """Return where each of these incidents matches a search; the caller has checked who may see them."""
    if not (ids and q):
        return {}
    given: dict[str, Any] = {
        "ids": list(ids),
        "q": q,
        "config": word_index.SEARCH_CONFIG,
        "most": LOOKED_AT,
        "is_begun": query_text.is_begun(q),
    }
    also = " UNION ALL ".join([_NOTHING, *(select.format(incident="i.id") for select in word_index.also_said)])
    with connection.cursor() as cursor:
        cursor.execute(_HITS.format(also=also), given | {"piece": _PIECE, "whole": _WHOLE})
        return {pk: Snippet(*said) for pk, *said in cursor.fetchall()}

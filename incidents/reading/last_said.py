"""What people last stated about an incident and still holds: its latest update, its impact, the next step."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Final, NamedTuple

from django.db import connection
from django.db.models.expressions import RawSQL

from incidents.models import Event, Incident
from incidents.timeline import TimelineEntry

STATED: Final = ("updated", "impact", "next_step")  # the newest entry of each of these kinds holds

_NEWEST_STATED: Final = """
    SELECT one.id FROM unnest(%s::bigint[]) AS whose CROSS JOIN unnest(%s::text[]) AS wanted CROSS JOIN LATERAL (
        SELECT id FROM incidents_event said WHERE incident_id = whose AND kind = wanted AND NOT EXISTS (
            SELECT FROM incidents_event taken
             WHERE taken.incident_id = whose AND taken.about_n = said.n AND taken.kind IN ('retracted', 'redacted'))
        ORDER BY n DESC LIMIT 1) AS one
"""
_EDITED: Final = """
    SELECT text FROM incidents_event edit
     WHERE edit.incident_id = incidents_event.incident_id AND edit.about_n = incidents_event.n AND edit.kind = 'edited'
     ORDER BY edit.n DESC LIMIT 1
"""
_WORDS: Final = f"""
    SELECT incident_id, kind, at, words FROM (
           SELECT incident_id, kind, at, coalesce(({_EDITED}), text) AS words FROM incidents_event
            WHERE id IN ({_NEWEST_STATED})) AS newest
     WHERE words <> ''
"""  # noqa: S608 (put together of constants)


def of(incidents: Iterable[Incident]) -> dict[int, dict[str, TimelineEntry]]:
    """Return the newest entry of each of ``STATED`` that was neither retracted nor redacted, by incident and kind.

    An empty entry means that the statement was cleared, and is left out. One query for all incidents, which reads each
    one's events backwards up to those entries. An entry has its latest text, and no history.
    """
    newest = RawSQL(_NEWEST_STATED, [[one.pk for one in incidents], list(STATED)])  # noqa: S611 (all of it is in the parameters)
    events = Event.objects.filter(pk__in=newest).annotate(edit=RawSQL(_EDITED, [])).select_related("by")  # noqa: S611 (a constant)
    found: dict[int, list[TimelineEntry]] = defaultdict(list)
    for event in events:
        found[event.incident_id].append(TimelineEntry(event, event.text if event.edit is None else event.edit))
    return {pk: among(some) for pk, some in found.items()}


class SaidWords(NamedTuple):
    """What an entry says now, and when it was said."""

    text: str
    at: datetime


def words(incidents: Iterable[Incident]) -> dict[int, dict[str, SaidWords]]:
    """Return the same as ``of``, reduced to what a list of many incidents needs: text and time."""
    found: dict[int, dict[str, SaidWords]] = defaultdict(dict)
    with connection.cursor() as cursor:
        cursor.execute(_WORDS, [[one.pk for one in incidents], list(STATED)])
        for pk, kind, at, text in cursor.fetchall():
            found[pk][kind] = SaidWords(text, at)
    return found


def among(entries: Iterable[TimelineEntry]) -> dict[str, TimelineEntry]:
    """Return the current statements among one incident's entries, by kind: the newest of each with text."""
    standing = (one for one in entries if one.event.kind in STATED and one.stands)
    newest = {one.event.kind: one for one in sorted(standing, key=lambda one: one.event.n)}
    return {kind: one for kind, one in newest.items() if one.text}

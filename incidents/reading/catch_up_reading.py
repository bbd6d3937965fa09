"""Read the catch-up from the timeline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from incidents import timeline
from incidents.followups import followup_lists
from incidents.models import Event, Followup, Incident
from incidents.people import person_matching
from incidents.reading import catch_up
from incidents.reading.catch_up import CatchUpLine, SaidEntry, StandsNow
from incidents.timeline import TimelineEntry
from incidents.visibility import Actor
from incidents.written_rows import WrittenRows

EVENT: Final = WrittenRows(Event, of="e")
_OF_EACH_KIND: Final = """
    SELECT one.id FROM unnest(%s::text[]) AS wanted CROSS JOIN LATERAL (
        SELECT id FROM incidents_event WHERE incident_id = %s AND kind = wanted ORDER BY n DESC LIMIT %s) AS one
"""
_LATEST: Final = """
    SELECT id FROM (SELECT id FROM incidents_event WHERE incident_id = %s AND kind <> ALL (%s) AND (at, n) >= (%s, %s)
                     ORDER BY at DESC, n DESC LIMIT %s) AS latest UNION
"""
Place = tuple[datetime, int]
BEGINNING: Final = datetime.min.replace(tzinfo=UTC), 0


@dataclass(frozen=True, slots=True)
class CatchUp:
    """What a latecomer is told, and whether anything happened after the declaration."""

    lines: tuple[CatchUpLine, ...]
    has_news: bool

    @property
    def due_at(self) -> datetime | None:
        """When the next update is due, or was."""
        return next((line.at for line in self.lines if line.ahead), None)


def of(incident: Incident) -> CatchUp:
    """Return the catch-up of an incident. The caller checks who may see it."""
    return told(incident, read(incident), followups=followup_lists.of_incident(incident))


def read(incident: Incident) -> list[TimelineEntry]:
    """Return the entries that the catch-up is based on, oldest first: two queries, however long the timeline is."""
    return timeline.entries(timeline.read(f"e.id IN ({_OF_EACH_KIND}) ORDER BY e.n", _each_kind_of(incident)))


def read_with_latest(incident: Incident, *, limit: int, after: Place = BEGINNING) -> list[TimelineEntry]:
    """Return the entries for the catch-up together with the latest ``limit`` from a place on, ordered by number.

    Two queries, and one for the people, for both: mostly they are the same entries by the same few people.
    """
    latest = [incident.pk, list(timeline.ABOUT_OTHERS), *after, limit]
    found = EVENT.read(
        f"FROM incidents_event e WHERE e.id IN ({_LATEST} {_OF_EACH_KIND}) ORDER BY e.n",
        [*latest, *_each_kind_of(incident)],
    )
    people = person_matching.of_keys({event.by_id for event in found if event.by_id})
    for event in found:
        event.by = people.get(event.by_id or 0)
    return timeline.entries(found)


def parted(
    together: Sequence[TimelineEntry], *, limit: int, reader: Actor, after: Place = BEGINNING
) -> tuple[list[TimelineEntry], list[TimelineEntry]]:
    """Split the result of ``read_with_latest``: entries for the catch-up, and what ``timeline.latest`` would return.

    Other incidents are named only if ``reader`` may see them.
    """
    entries = timeline.naming_in(together, reader=reader)
    in_time = sorted((one for one in entries if one.event.kind not in timeline.ABOUT_OTHERS), key=_place)
    return _newest_of_each_kind(entries), [one for one in in_time if _place(one) >= after][-limit:]


def _each_kind_of(incident: Incident) -> list[object]:
    return [list(catch_up.KINDS), incident.pk, catch_up.OF_A_KIND]


def _place(entry: TimelineEntry) -> Place:
    return entry.event.at, entry.event.n


def _newest_of_each_kind(oldest_first: list[TimelineEntry]) -> list[TimelineEntry]:
    left = dict.fromkeys(catch_up.KINDS, catch_up.OF_A_KIND)
    kept = []
    for entry in reversed(oldest_first):
        if left.get(entry.event.kind):
            left[entry.event.kind] -= 1
            kept.append(entry)
    return kept[::-1]


def told(incident: Incident, entries: Iterable[TimelineEntry], *, followups: Iterable[Followup]) -> CatchUp:
    """Return the catch-up of an incident whose entries and follow-ups were read already."""
    said = tuple(map(_said, entries))
    now = StandsNow(
        active=incident.is_active,
        lead=incident.lead.name if incident.lead else "",
        due_at=incident.update_due_at,
        asks_updates=bool(incident.policy.update_every_min),
        tasks={one.entry_n: one.owner.name if one.owner else "" for one in followups if one.is_open},
    )
    return CatchUp(catch_up.compose(said, now), any(one.kind in catch_up.NEWS for one in said))


def _said(entry: TimelineEntry) -> SaidEntry:
    event = entry.event
    by = event.by.name if event.by else ""
    text = " ".join(entry.text.split()) if entry.stands else ""
    return SaidEntry(event.n, event.kind, event.at, by, text, event.data, entry.stands)

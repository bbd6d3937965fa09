"""What an incident's page shows to all its viewers: read in one go, and shared by those who look at the same moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from incidents.drills import sample_mark
from incidents.followups import followup_lists
from incidents.live import shared_reading
from incidents.models import Followup, Incident
from incidents.policies import current_types
from incidents.reading import catch_up_reading
from incidents.reading.catch_up_reading import BEGINNING, Place
from incidents.timeline import TimelineEntry
from incidents.views import panels
from incidents.views.panels import Facts


@dataclass(frozen=True, slots=True)
class PageReading:
    """What was read; no one modifies it. ``together`` are the entries for the catch-up and the latest of the timeline.

    ``facts`` are those of each panel, ``tints`` the colours of types by slug.
    """

    together: tuple[TimelineEntry, ...]
    followups: tuple[Followup, ...]
    is_sample: bool
    tints: Mapping[str, str]
    facts: Facts


def of(incident: Incident, *, limit: int, after: Place = BEGINNING) -> PageReading:
    """Return what a page shows with the latest ``limit`` entries from a place on. The caller checks who may see it."""
    return shared_reading.of(incident, f"page {limit} {after}", lambda: _read(incident, limit, after))


def facts(incident: Incident) -> Facts:
    """Return only what the panels show."""
    return shared_reading.of(incident, "panels", lambda: panels.facts(incident))


def tints() -> dict[str, str]:
    """Return the colour of every type by slug."""
    return {one.slug: one.policy.colour for one in current_types.every()}


def _read(incident: Incident, limit: int, after: Place) -> PageReading:
    return PageReading(
        together=tuple(catch_up_reading.read_with_latest(incident, limit=limit, after=after)),
        followups=tuple(followup_lists.of_incident(incident)),
        is_sample=bool(sample_mark.among([incident])),
        tints=tints(),
        facts=panels.facts(incident),
    )

"""The rows of the list of incidents: a row is drawn once for everyone to whom it says the same."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString

from incidents import sample_mark, timeline
from incidents.models import Incident, IncidentType
from incidents.policies.policy import Policy
from incidents.search.snippets import Snippet
from incidents.templatetags import firekind
from incidents.timeline import TimelineEntry

KEPT: Final = 1000  # rows, of about a kilobyte each


@dataclass(frozen=True, slots=True)
class ShownRow:
    """All that a row is drawn from, as its reader reads it: rows that are equal look the same to anybody.

    ``hit_n`` is the entry in which a search found ``hit``; ``zone`` and ``year`` are those in which times are read.
    """

    codename: str
    url: str
    title: str
    is_marked: bool
    colour: str
    called: str
    status: str
    state: str
    is_active: bool
    private: bool
    is_drill: bool
    is_sample: bool
    lead: str
    overdue: bool
    impact: str
    update: str
    updated: SafeString
    hit_n: int | None
    hit: str
    declared_at: datetime
    age: SafeString
    zone: str
    year: int


@dataclass(frozen=True, slots=True)
class IncidentRow:
    """An incident in the list, with what it waits for."""

    incident: Incident
    policy: Policy
    update: TimelineEntry | None
    impact: TimelineEntry | None
    overdue: bool
    is_sample: bool
    snippet: Snippet | None

    @property
    def urgency(self) -> tuple[bool, bool, bool]:
        """What an active incident is sorted by: an update is overdue, nobody leads, customers feel it."""
        return self.overdue, self.incident.lead_id is None, self.policy.customer_facing

    @property
    def drawn(self) -> SafeString:
        """The row as HTML, in the viewer's zone."""
        draw = drawn_once.__wrapped__ if settings.DEBUG else drawn_once  # whoever works on a template sees it change
        return draw(self._shown())

    def _shown(self) -> ShownRow:
        one, hit, update = self.incident, self.snippet, self.update
        impact = self.impact.text if self.impact and not (hit and hit.n) else ""
        here = timezone.get_current_timezone()
        return ShownRow(
            codename=one.codename,
            url=one.get_absolute_url(),
            title=hit.title if hit else one.title,
            is_marked=hit is not None,
            colour=self.policy.colour,
            called=self.policy.name,
            status=one.status,
            state=one.get_status_display(),
            is_active=one.is_active,
            private=one.private,
            is_drill=one.is_drill,
            is_sample=self.is_sample,
            lead=one.lead.name if one.lead else "",
            overdue=self.overdue,
            impact=impact,
            update=update.text if update else "",
            updated=firekind.ticking(update.event.at) if update else SafeString(),
            hit_n=hit.n if hit else None,
            hit=hit.piece if hit else "",
            declared_at=one.declared_at,
            age=firekind.ticking(one.declared_at, None if one.is_active else one.ended_at),
            zone=str(here),
            year=timezone.now().astimezone(here).year,
        )


def rows(
    found: list[Incident], types: dict[int, IncidentType], *, at: datetime, hits: dict[int, Snippet]
) -> list[IncidentRow]:
    """Return the rows of a page: active ones by urgency, and otherwise in the order given."""
    said, samples = timeline.last_said(one for one in found if one.is_active), sample_mark.among(found)
    policies = {pk: one.policy for pk, one in types.items()}
    made = []
    for one in found:
        policy, stated = policies[one.type_id], said.get(one.pk, {})
        waited_for = one.is_active and policy.update_every_min is not None
        made.append(
            IncidentRow(
                incident=one,
                policy=policy,
                update=stated.get("updated"),
                impact=stated.get("impact"),
                overdue=waited_for and (one.update_due_at is None or one.update_due_at <= at),
                is_sample=one.pk in samples,
                snippet=hits.get(one.pk),
            )
        )
    active = sorted((one for one in made if one.incident.is_active), key=lambda one: one.urgency, reverse=True)
    return active + [one for one in made if not one.incident.is_active]


@lru_cache(maxsize=KEPT)
def drawn_once(row: ShownRow) -> SafeString:
    """Draw a row from itself alone: whoever may read it was asked before, and nothing else goes into it."""
    return render_to_string("incidents/_row.html", {"row": row})

"""The rows of the list of incidents: readers who see the same in a row share one rendering."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from operator import itemgetter
from typing import Final, NamedTuple

from django.conf import settings
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString

from incidents.drills import sample_mark
from incidents.models import Incident, IncidentType, PolicyVersion, Status
from incidents.policies.policy import Policy
from incidents.reading import last_said
from incidents.search.snippets import Snippet
from incidents.templatetags import firekind
from incidents.views.lists import unanswered, urgency

KEPT: Final = 1000  # rows, of about a kilobyte each


@dataclass(frozen=True, slots=True)
class ShownRow:
    """Everything that a row is rendered from, for its reader: rows that are equal look the same to anyone.

    ``is_unanswered`` means that one of its pages is not acknowledged. ``hit_at`` is where a search found ``hit``, as an
    address below the incident's, and ``hit_in`` the name of that place, empty for an entry. Ages are in words. ``zone``
    and ``year`` are those in which times are shown.
    """

    codename: str
    title: str
    is_marked: bool
    colour: str
    called: str
    status: str
    is_active: bool
    private: bool
    is_drill: bool
    is_sample: bool
    lead: str
    overdue: bool
    is_unanswered: bool
    impact: str
    update: str
    updated_at: datetime | None
    update_age: str
    hit_at: str
    hit_in: str
    hit: str
    declared_at: datetime
    age: str
    zone: str
    year: int

    @property
    def drawn(self) -> SafeString:
        """The row as HTML."""
        draw = drawn_once.__wrapped__ if settings.DEBUG else drawn_once  # in development, template changes must show
        return draw(self)

    @property
    def url(self) -> str:
        """The address of its incident."""
        return reverse("incident", args=[self.codename])

    @property
    def state(self) -> str:
        """The name of its status."""
        return str(Status(self.status).label)


class ListedRows(NamedTuple):
    """The rows of a page: active ones, most urgent first, and then those that ended, in the order given."""

    active: list[ShownRow]
    ended: list[ShownRow]


def rows(
    found: list[Incident], types: dict[int, IncidentType], *, at: datetime, hits: dict[int, Snippet]
) -> ListedRows:
    """Return the rows of a page in the viewer's time zone."""
    said = last_said.words(one for one in found if one.is_active)
    paging = unanswered.among([one.pk for one in found if one.is_active])
    policies = taken(found, types.values())
    here = timezone.get_current_timezone()
    zone, year = str(here), at.astimezone(here).year
    active, ended = [], []
    for one in found:
        policy, stated, hit = policies[one.policy_version_id], said.get(one.pk, {}), hits.get(one.pk)
        waited_for = one.is_active and policy.update_every_min is not None
        update, impact = stated.get("updated"), stated.get("impact")
        row = ShownRow(
            codename=one.codename,
            title=hit.title if hit else one.title,
            is_marked=hit is not None,
            colour=policy.colour,
            called=policy.name,
            status=one.status,
            is_active=one.is_active,
            private=one.private,
            is_drill=one.is_drill,
            is_sample=sample_mark.is_on(one),
            lead=one.lead.name if one.lead else "",
            overdue=waited_for and (one.update_due_at is None or one.update_due_at <= at),
            is_unanswered=one.pk in paging,
            impact=impact.text if impact and not (hit and hit.place) else "",
            update=update.text if update else "",
            updated_at=update.at if update else None,
            update_age=firekind.age(update.at, at) if update else "",
            hit_at=hit.place if hit else "",
            hit_in=hit.called if hit else "",
            hit=hit.piece if hit else "",
            declared_at=one.declared_at,
            age=firekind.age(one.declared_at, at if one.is_active else one.ended_at or at),
            zone=zone,
            year=year,
        )
        if row.is_active:
            rank = urgency.rank(
                policy,
                status=one.status,
                is_overdue=row.overdue,
                is_unanswered=row.is_unanswered,
                has_lead=one.lead_id is not None,
            )
            active.append((rank, row))
        else:
            ended.append(row)
    return ListedRows([row for _, row in sorted(active, key=itemgetter(0))], ended)


def taken(found: Iterable[Incident], types: Iterable[IncidentType]) -> dict[int, Policy]:
    """Return the policies of incidents, by version: their type's current one, or the older one they have."""
    policies = {one.current.pk: one.policy for one in types if one.current}
    older = {one.policy_version_id for one in found} - policies.keys()
    return policies | {pk: one.policy for pk, one in PolicyVersion.objects.in_bulk(older).items()}


@lru_cache(maxsize=KEPT)
def drawn_once(row: ShownRow) -> SafeString:
    """Render a row from nothing but itself: the caller has checked who may read it."""
    return render_to_string("incidents/_row.html", {"row": row})

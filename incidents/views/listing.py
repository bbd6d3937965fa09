"""The list of incidents: active ones first and of those the most urgent, by type, searched."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone

from incidents import sample_mark, timeline
from incidents.models import Incident, IncidentType, Status
from incidents.policies.policy import Policy
from incidents.search import IncidentFilters, SearchPage, find
from incidents.timeline import TimelineEntry
from incidents.views.signed_in import Request, signed_in

STATUSES = {"": "All", "active": "Active", "ended": "Ended"}
MINE = {"": "Everybody", "lead": "I lead", "in": "I'm in"}


@dataclass(frozen=True, slots=True)
class Link:
    """A filter to choose; ``on`` when it is chosen."""

    label: str
    to: str
    on: bool
    colour: str = ""


@dataclass(frozen=True, slots=True)
class IncidentRow:
    """An incident in the list, with what it waits for."""

    incident: Incident
    policy: Policy
    update: TimelineEntry | None
    overdue: bool
    is_sample: bool = False

    @property
    def urgency(self) -> tuple[bool, bool, bool]:
        """What an active incident is sorted by: an update is overdue, nobody leads, customers feel it."""
        return self.overdue, self.incident.lead_id is None, self.policy.customer_facing


@signed_in
def listing(request: Request) -> HttpResponse:
    """Show one page of incidents; as a fragment, the list alone."""
    filters = IncidentFilters.read(request.GET)
    types = {one.pk: one for one in IncidentType.objects.select_related("current")}
    found = find(filters, person=request.person)
    context = {
        "here": "incidents",
        "sandbox": settings.FIREKIND.sandbox_url,
        "filters": filters,
        "found": found,
        "further": address(filters, after=found.more),
        "rows": rows(found.rows, types, at=timezone.now()),
        "active": _active(found),
        "statuses": _links(filters, "status", _statuses(filters)),
        "mine": _links(filters, "me", MINE),
        "types": _types(filters, list(types.values())),
    }
    fragment = request.htmx and not request.htmx.history_restore_request
    return render(request, "incidents/list.html" + ("#incidents" if fragment else ""), context)


def rows(found: list[Incident], types: dict[int, IncidentType], *, at: datetime) -> list[IncidentRow]:
    """Return the rows of a page: active ones by urgency, and otherwise in the order given."""
    updates, samples = timeline.last_updates(one for one in found if one.is_active), sample_mark.among(found)
    made = []
    for one in found:
        policy = types[one.type_id].policy
        waited_for = one.is_active and policy.update_every_min is not None
        overdue = waited_for and (one.update_due_at is None or one.update_due_at <= at)
        made.append(IncidentRow(one, policy, updates.get(one.pk), overdue, one.pk in samples))
    active = sorted((one for one in made if one.incident.is_active), key=lambda one: one.urgency, reverse=True)
    return active + [one for one in made if not one.incident.is_active]


def address(filters: IncidentFilters, **changes: str) -> str:
    """Return the address of this list with some filters changed."""
    return reverse("incidents") + filters.to(**changes)


def _active(found: SearchPage) -> str:
    """Say how many are active; when the page ends among them, only that there are more."""
    count = sum(one.is_active for one in found.rows)
    return f"{count} and more" if found.more and count == len(found.rows) else str(count)


def _links(filters: IncidentFilters, name: str, labels: dict[str, str]) -> list[Link]:
    chosen = getattr(filters, name)
    return [Link(label, address(filters, **{name: value}), value == chosen) for value, label in labels.items()]


def _statuses(filters: IncidentFilters) -> dict[str, str]:
    asked = {filters.status: str(Status(filters.status).label)} if filters.status in Status.values else {}
    return STATUSES | asked


def _types(filters: IncidentFilters, types: list[IncidentType]) -> list[Link]:
    shown = [one for one in types if one.archived_at is None or one.slug == filters.type]
    return [
        Link(
            one.policy.name,
            address(filters, type="" if one.slug == filters.type else one.slug),
            one.slug == filters.type,
            one.policy.colour,
        )
        for one in shown
    ]

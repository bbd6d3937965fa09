"""The list of incidents: open first, by type, searched."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse

from incidents.models import IncidentType, Status
from incidents.search import IncidentFilters, SearchPage, find
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


@signed_in
def listing(request: Request) -> HttpResponse:
    """Show one page of incidents; as a fragment, the list alone."""
    filters = IncidentFilters.read(request.GET)
    types = {one.pk: one for one in IncidentType.objects.select_related("current")}
    found = find(filters, person=request.person)
    context = {
        "here": "incidents",
        "filters": filters,
        "found": found,
        "further": address(filters, after=found.more),
        "rows": [(one, types[one.type_id].policy) for one in found.rows],
        "active": _active(found),
        "statuses": _links(filters, "status", _statuses(filters)),
        "mine": _links(filters, "me", MINE),
        "types": _types(filters, list(types.values())),
    }
    fragment = request.htmx and not request.htmx.history_restore_request
    return render(request, "incidents/list.html" + ("#incidents" if fragment else ""), context)


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

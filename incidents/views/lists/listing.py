"""The list of incidents: active ones first, the most urgent on top; filtered, searched and saved."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import push_url

from incidents.lifecycle import BadInput
from incidents.models import IncidentType, Person, Status
from incidents.policies import current_types
from incidents.search import (
    IncidentFilters,
    SearchPage,
    find,
    jumps,
    matching,
    near_words,
    open_now,
    saved_views,
    snippets,
)
from incidents.views.lists import list_rows, urgency
from incidents.views.signed_in import Request, signed_in

START_HIDDEN = "start_hidden"
STATUSES = {"": "All", "active": "Active", "ended": "Ended"}
MINE = {"": "Everyone", "lead": "I lead", "in": "I'm in"}


@dataclass(frozen=True, slots=True)
class Link:
    """A filter to choose; ``on`` if it is chosen."""

    label: str
    to: str
    on: bool
    colour: str = ""


@signed_in
def listing(request: Request) -> HttpResponse:
    """Show one page of incidents; as a fragment, only the list."""
    filters = IncidentFilters.read(request.GET)
    types = {one.pk: one for one in current_types.every()}
    found, at = find(filters, person=request.person), timezone.now()
    hits = snippets.of([one.pk for one in found.rows], filters.q)
    context = {
        "here": "incidents",
        "start": "" if request.session.get(START_HIDDEN) else settings.FIREKIND.sandbox_url,
        "filters": filters,
        "found": found,
        "meant": _meant(filters, request.person) if filters.q and not found.rows else None,
        "further": address(filters, after=found.more),
        "rows": list_rows.rows(found.rows, types, at=at, hits=hits),
        "open_now": open_now.of(request.person, types, at=at),
        "views": saved_views.of(request.person),
        "here_is": filters.to(),
        "here_at": address(filters, after=filters.after),
        "without": [(label, value, address(filters, **{name: ""})) for name, label, value in filters.narrowing],
        "csv": reverse("incidents-csv") + filters.to(),
        "active": _active(found),
        "order": urgency.ORDER,
        "statuses": _links(filters, "status", _statuses(filters)),
        "mine": _links(filters, "me", MINE),
        "drills": Link("Drills", address(filters, drills="" if filters.drills else "1"), bool(filters.drills)),
        "types": _types(filters, list(types.values())),
    }
    fragment = request.htmx and not request.htmx.history_restore_request
    response = render(request, "incidents/list.html" + ("#incidents" if fragment else ""), context)
    # A form sends its empty fields too; the address to share and to go back to has none of them.
    return push_url(response, address(filters)) if request.htmx.trigger == "filters" else response


def _meant(filters: IncidentFilters, person: Person) -> Link | None:
    """Return the nearest words that match something ``person`` may see."""
    meant = near_words.of(filters.q, person=person)
    if not meant or not matching(replace(filters, q=meant, after=""), person=person).exists():
        return None
    return Link(meant, address(filters, q=meant), on=False)


@require_GET
@signed_in
def whole(request: Request) -> HttpResponse:
    """Redirect to the list from a truncated incident address."""
    return redirect(f"{reverse('incidents')}?{request.GET.urlencode()}" if request.GET else "incidents")


@require_GET
@signed_in
def jump(request: Request) -> JsonResponse:
    """Return the few incidents that match what someone types, for the command palette."""
    found = jumps(IncidentFilters.read(request.GET).q, person=request.person)
    policies = list_rows.taken(found, IncidentType.objects.select_related("current"))
    rows = [
        {
            "title": one.title,
            "codename": one.codename,
            "type": policies[one.policy_version_id].name,
            "state": one.get_status_display(),
            "url": one.get_absolute_url(),
        }
        for one in found
    ]
    return JsonResponse({"incidents": rows})


@require_POST
@signed_in
def hide_start(request: Request) -> HttpResponse:
    """Hide the demo's starting hints, until this person signs in again."""
    request.session[START_HIDDEN] = True
    return redirect("incidents")


@require_POST
@signed_in
def keep(request: Request) -> HttpResponse:
    """Save the list with the submitted address under a name."""
    filters = IncidentFilters.read(QueryDict(request.POST.get("list", "").removeprefix("?")))
    try:
        saved = saved_views.keep(request.POST.get("name", ""), filters, by=request.person)
        messages.success(request, f"Saved as {saved.name}.")
    except BadInput as wrong:
        messages.error(request, str(wrong))
    return redirect(address(filters))


@require_POST
@signed_in
def rename(request: Request, pk: int) -> HttpResponse:
    """Rename one of this person's saved lists."""
    try:
        saved = saved_views.rename(pk, request.POST.get("name", ""), by=request.person)
        if saved is not None:
            messages.success(request, f"Renamed to {saved.name}.")
    except BadInput as wrong:
        messages.error(request, str(wrong))
    filters = IncidentFilters.read(QueryDict(request.POST.get("list", "").removeprefix("?")))
    return redirect(address(filters))


@require_POST
@signed_in
def drop(request: Request, pk: int) -> HttpResponse:
    """Remove one of this person's saved lists."""
    saved_views.drop(pk, by=request.person)
    return redirect("incidents")


def address(filters: IncidentFilters, **changes: str) -> str:
    """Return the address of this list with some filters changed."""
    return _home() + filters.to(**changes)


@cache
def _home() -> str:
    return reverse("incidents")


def _active(found: SearchPage) -> str:
    """Return how many are active; if the page ends among them, only that there are more."""
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

"""Autocompletion for the type editor: groups, what can be paged, schedules, people, sources, roles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from django.http import Http404, JsonResponse
from django.views.decorators.http import require_GET

from incidents.forms.people import joinable
from incidents.models import IncidentType
from incidents.views.allowed import needs
from incidents.views.signed_in import Request, signed_in
from workflows.loading import incident_rows
from workflows.models import Group, PagerTarget

Kind = PagerTarget.Kind
SHOWN: Final = 20
Choice = tuple[str, str]  # the value for the field, and the note shown with it


@require_GET
@signed_in
@needs("types")
def choices(request: Request) -> JsonResponse:
    """Return the matches for the words ``q``, of one kind, as JSON; 404 for an unknown kind."""
    find = KINDS.get(request.GET.get("of", ""))
    if find is None:
        raise Http404("No such choices.")
    found = find(" ".join(request.GET.get("q", "").split())[:80])
    return JsonResponse({"choices": [{"value": value, "hint": hint} for value, hint in found]})


def _groups(q: str) -> list[Choice]:
    rows = Group.objects.order_by("handle").values_list("handle", "name")
    return _fitting(((f"@{handle}", name) for handle, name in rows), q)


def _pages(q: str) -> list[Choice]:
    return _targets(q, Kind.POLICY, Kind.SERVICE)


def _schedules(q: str) -> list[Choice]:
    return _targets(q, Kind.SCHEDULE)


def _targets(q: str, *kinds: PagerTarget.Kind) -> list[Choice]:
    rows = PagerTarget.objects.filter(kind__in=kinds, gone=False).order_by("kind", "name")
    return _fitting(((row.name, row.get_kind_display().capitalize()) for row in rows), q)


def _people(q: str) -> list[Choice]:
    rows = joinable().exclude(email="").filter(name__icontains=q) | joinable().filter(email__icontains=q)
    return list(rows.exclude(email="").order_by("name", "pk").values_list("email", "name")[:SHOWN])


def _sources(q: str) -> list[Choice]:
    return _fitting(((source.name, ", ".join(source.kinds)) for source in incident_rows.sources().values()), q)


def _roles(q: str) -> list[Choice]:
    found: dict[str, str] = {}
    for type in IncidentType.objects.filter(archived_at=None).select_related("current"):
        for role in [*type.policy.roles, *(one.role for one in type.policy.one_of)]:
            found.setdefault(role, f"As in {type.policy.name}")
    return _fitting(sorted(found.items()), q)


def _fitting(rows: Iterable[Choice], q: str) -> list[Choice]:
    """Return the first few that contain every word, those that begin with the search first."""
    words = q.casefold().split()
    found = [row for row in rows if all(word in " ".join(row).casefold() for word in words)]
    return sorted(found, key=lambda row: not row[0].casefold().lstrip("@").startswith(q.casefold().lstrip("@")))[:SHOWN]


KINDS: Final[Mapping[str, Callable[[str], list[Choice]]]] = {
    "groups": _groups,
    "pages": _pages,
    "schedules": _schedules,
    "people": _people,
    "sources": _sources,
    "roles": _roles,
}

"""Move open incidents to the newest version of their type."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from incidents.models import Incident, IncidentType, Person
from incidents.views.allowed import needs
from incidents.views.signed_in import Request, signed_in
from incidents.views.types import find
from workflows.views import policy


@require_http_methods(["GET", "POST"])
@signed_in
@needs("types")
def adopt(request: Request, slug: str) -> HttpResponse:
    """Show which open incidents have an older version and what the newest would change; move the selected ones."""
    type = find(slug)
    behind = _behind(type, request.person)
    if request.method == "POST":
        chosen = set(request.POST.getlist("adopt"))
        said = policy.adopt(request, [one for one in behind if one.codename in chosen])
        messages.success(request, said or "Nothing selected, so nothing changed.")
        return redirect("type-adopt", slug=slug)
    context = {
        "here": "types",
        "type": type,
        "policy": type.policy,
        "meanings": policy.meanings(behind, type.policy, request.person),
        "unshown": max(0, len(behind) - policy.SHOWN),
    }
    return render(request, "types/adopt.html", context)


def _behind(type: IncidentType, person: Person) -> list[Incident]:
    return [one for one in policy.open_incidents(type, person) if one.policy_version_id != type.current_id]

"""What declaring an incident of a type would do: shown with the declare page, and updated with each choice."""

from __future__ import annotations

from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, render
from django.template.loader import render_to_string

from incidents.forms.given import number
from incidents.forms.people import joinable
from incidents.models import IncidentType
from incidents.views import declare
from incidents.views.signed_in import Request, signed_in
from workflows.reconcile import retyping

TEMPLATE = "workflows/declaring.html"


@signed_in
def plan_of_type(request: Request) -> HttpResponse:
    """Show what happens if an incident of this type is declared."""
    usable = IncidentType.objects.filter(archived_at=None).select_related("current")
    type = get_object_or_404(usable, slug=request.GET.get("type", ""))
    if request.htmx:
        return render(request, f"{TEMPLATE}#changed", _context(request, type, request.GET))
    return render(request, TEMPLATE, _context(request, type, request.GET))


def _drawn(request: Request, type: IncidentType, given: QueryDict) -> declare.DrawnPlan:
    context = _context(request, type, given)
    whole, reach = (render_to_string(f"{TEMPLATE}#{part}", context, request) for part in ("plan", "reach"))
    return declare.DrawnPlan(whole, reach)


def _context(request: Request, type: IncidentType, given: QueryDict) -> dict[str, object]:
    lead = joinable(by=request.person).filter(pk=number(given.get("lead")) or 0).first()
    services = given.get("services", "").split(",")
    drill = bool(given.get("drill"))
    plan = retyping.preview_declare(type=type, by=request.person, lead=lead, services=services, is_drill=drill)
    return {"plan": plan, "policy": type.policy, "lines": [(line, False) for line in plan.lines]}


declare.register(_drawn)

"""What declaring an incident of a type would do, as a fragment of the declare page."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render

from incidents.forms.given import number
from incidents.forms.people import joinable
from incidents.models import IncidentType
from incidents.views.signed_in import Request, signed_in
from workflows.reconcile import retyping


@signed_in
def plan_of_type(request: Request) -> HttpResponse:
    """Show what happens once an incident of this type is declared."""
    usable = IncidentType.objects.filter(archived_at=None).select_related("current")
    type = get_object_or_404(usable, slug=request.GET.get("type", ""))
    lead = joinable(by=request.person).filter(pk=number(request.GET.get("lead")) or 0).first()
    services = request.GET.get("services", "").split(",")
    is_drill = bool(request.GET.get("drill"))
    plan = retyping.preview_declare(type=type, by=request.person, lead=lead, services=services, is_drill=is_drill)
    context = {"plan": plan, "policy": type.policy, "lines": [(line, False) for line in plan.lines]}
    return render(request, "workflows/declaring.html" + ("#plan" if request.htmx else ""), context)

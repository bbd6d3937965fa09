"""All evidence of an incident, and the ways to bring more."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render

from evidence.models import Evidence
from evidence.models.evidence import State
from incidents.views.signed_in import Request, incident_or_404, signed_in


@signed_in
def listing(request: Request, codename: str) -> HttpResponse:
    """Show everything that was measured, newest first."""
    incident = incident_or_404(request.person, codename)
    found = Evidence.objects.filter(incident=incident).exclude(state=State.WITHDRAWN).order_by("-n")
    return render(request, "evidence/list.html", {"incident": incident, "evidence": found})

"""What to compare: the measurements of an incident by kind, for a request that names none."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render

from evidence.models import Evidence
from evidence.models.evidence import Kind, State
from incidents.views.signed_in import Request, incident_or_404

KINDS = (Kind.PROFILE, Kind.BENCHMARK, Kind.LOAD, Kind.COUNTS, Kind.SWEEP)
MOST = 60


def page(request: Request, codename: str) -> HttpResponse:
    """Ask which measurements to lay side by side."""
    incident = incident_or_404(request.person, codename)
    ready = Evidence.objects.filter(incident=incident, state=State.READY, kind__in=KINDS).order_by("n")
    found = list(ready.select_related("added_by")[:MOST])
    kinds = [(str(kind.label), [one for one in found if one.kind == kind]) for kind in KINDS]
    context = {"incident": incident, "policy": incident.policy, "kinds": [one for one in kinds if len(one[1]) > 1]}
    return render(request, "evidence/choose.html", context)

"""What to compare: the measurements of an incident by kind, for a request that names none."""

from __future__ import annotations

from collections.abc import Sequence

from django.http import HttpResponse
from django.shortcuts import render

from evidence.models import Evidence
from evidence.models.evidence import Kind, State
from evidence.related import alike
from incidents.views.signed_in import Request, incident_or_404

KINDS = (Kind.PROFILE, Kind.BENCHMARK, Kind.LOAD, Kind.COUNTS, Kind.SWEEP)
MOST = 60


def page(request: Request, codename: str) -> HttpResponse:
    """Ask which measurements to lay side by side."""
    incident = incident_or_404(request.person, codename)
    ready = Evidence.objects.filter(incident=incident, state=State.READY, kind__in=KINDS).order_by("n")
    found = list(ready.select_related("added_by")[:MOST])
    profiles = [one for one in found if one.kind == Kind.PROFILE]
    groups = alike.grouped(profiles)
    kinds = [(_called(group, among=groups), group.profiles, True) for group in groups]
    kinds += [(str(kind.label), [one for one in found if one.kind == kind], False) for kind in KINDS[1:]]
    context = {"incident": incident, "policy": incident.policy, "kinds": [one for one in kinds if len(one[1]) > 1]}
    context["alone"] = alike.alone(profiles, groups) if len(profiles) > 1 else []
    return render(request, "evidence/choose.html", context)


def _called(group: alike.AlikeProfiles, *, among: Sequence[alike.AlikeProfiles]) -> str:
    return "Profiles" if len(among) == 1 else f"Profiles that count {group.counts}"

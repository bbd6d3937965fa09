"""Buttons for manual steps: *Mark as done*, which is checked with the vendor, and *Create a new channel*."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from incidents import lifecycle
from incidents.models import Incident
from incidents.views import act
from incidents.views.signed_in import Request, incident_or_404, signed_in
from workflows.channels import rooms
from workflows.status import manual_steps, missing


@require_POST
@signed_in
def done(request: Request, codename: str, effect: int) -> HttpResponse:
    """Ask the vendor whether a step is done, and if so record it; else say what is still missing."""
    incident = incident_or_404(request.person, codename)
    return _said(request, incident, lambda: manual_steps.done(effect, incident, by=request.person, at=timezone.now()))


@require_POST
@signed_in
def mended(request: Request, codename: str) -> HttpResponse:
    """Ask the vendor whether something is still missing, and say what was found."""
    incident = incident_or_404(request.person, codename)
    gap = request.POST.get("gap", "")
    return _said(request, incident, lambda: missing.mended(gap, incident, by=request.person, at=timezone.now()))


@require_POST
@signed_in
def new_channel(request: Request, codename: str) -> HttpResponse:
    """Have a channel created to replace one that is gone."""
    incident = incident_or_404(request.person, codename)

    def ask() -> str:
        rooms.open_another(incident, by=request.person, at=timezone.now())
        return "A new channel is being created."

    return _said(request, incident, ask)


def _said(request: Request, incident: Incident, look: Callable[[], str]) -> HttpResponse:
    to = reverse("progress", args=[incident.codename])
    try:
        return act.done(request, look(), to=to)
    except lifecycle.Refused as refused:
        return act.done(request, str(refused), to=to, is_done=False)

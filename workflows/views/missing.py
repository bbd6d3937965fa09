"""The button *I have done it* of something that is missing: somebody's word, looked at before it is believed."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST
from django_htmx.http import trigger_client_event

from incidents import lifecycle
from incidents.views.signed_in import Request, incident_or_404, signed_in
from workflows import missing


@require_POST
@signed_in
def mended(request: Request, codename: str) -> HttpResponse:
    """Ask the vendor whether it is still missing, and say what was found."""
    incident = incident_or_404(request.person, codename)
    try:
        said = missing.mended(request.POST.get("gap", ""), incident, by=request.person, at=timezone.now())
        tell = messages.success
    except lifecycle.Refused as refused:
        said, tell = str(refused), messages.error
    if not request.htmx:
        tell(request, said)
        return redirect("progress", incident.codename)
    response = HttpResponse(status=204)
    trigger_client_event(response, "firekind:did", {"said": said})
    return trigger_client_event(response, "firekind:changed", {})

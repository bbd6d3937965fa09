"""What others posted in the channel, counted before the conversation moves."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from incidents.views.signed_in import Request, incident_or_404, signed_in
from workflows.status import residual_content as counting


@require_safe
@signed_in
def remains(request: Request, codename: str) -> HttpResponse:
    """Say in a sentence, fetched by the plan once it is shown, how much stays in the channel that people leave."""
    incident = incident_or_404(request.person, codename)
    return render(request, "workflows/_remains.html", {"left": counting.now(incident)})

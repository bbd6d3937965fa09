"""Commands to copy to an affected host, and the tokens that let them in."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from evidence.intake import commands as ready
from evidence.intake import tokens
from evidence.intake.tokens import Issued
from evidence.models.token import Scope
from incidents import lifecycle, visibility
from incidents.views.signed_in import Request, incident_or_404, signed_in

UNPROCESSABLE = 422


@require_http_methods(["GET", "POST"])
@signed_in
def commands(request: Request, codename: str) -> HttpResponse:
    """Offer the commands; with POST, create a token for this incident and show them with it, once."""
    incident = incident_or_404(request.person, codename)
    context: dict[str, Any] = {"incident": incident, "hours": int(tokens.FOR_AN_INCIDENT.total_seconds() // 3600)}
    status = 200
    if request.method == "POST":
        try:
            issued = tokens.issue(request.person, at=timezone.now(), incident=incident)
            address = f"{settings.FIREKIND.base_url}/api/v1/incidents/{incident.codename}/evidence"
            context |= {"lines": ready.lines(address, secret=issued.secret), "token": issued.token}
        except lifecycle.Refused as refused:
            context["refused"], status = str(refused), UNPROCESSABLE
    name = "evidence/_commands.html" if request.htmx else "evidence/commands.html"
    return render(request, name, context, status=status)


@require_http_methods(["GET", "POST"])
@signed_in
def listing(request: Request) -> HttpResponse:
    """Show one's own tokens; with POST, create a personal one, whose secret is shown once."""
    chosen = request.POST.getlist("scopes") if request.method == "POST" else [Scope.EVIDENCE_WRITE.value]
    scopes = [(one.value, one.label, one.value in chosen) for one in Scope]
    context: dict[str, Any] = {"days": tokens.PERSONAL.days, "scopes": scopes}
    status = 200
    if request.method == "POST":
        try:
            context["issued"] = _personal(request)
        except lifecycle.Refused as refused:
            context["refused"], status = str(refused), UNPROCESSABLE
    context["tokens"] = working = list(tokens.working(request.person, at=timezone.now()))
    theirs = [one.incident_id for one in working if one.incident_id]
    context["seen"] = set(visibility.visible_to(request.person).filter(pk__in=theirs).values_list("pk", flat=True))
    return render(request, "evidence/tokens.html", context, status=status)


def _personal(request: Request) -> Issued:
    name = request.POST.get("name", "").strip()
    if not name:
        raise lifecycle.BadInput("name", "Say where it will be used, so you can recognize it later.")
    return tokens.issue(request.person, at=timezone.now(), name=name, scopes=request.POST.getlist("scopes"))


@require_POST
@signed_in
def revoke(request: Request, pk: int) -> HttpResponse:
    """Revoke one of your own tokens; another person's looks like one that does not exist."""
    if tokens.revoke(pk, by=request.person, at=timezone.now()):
        messages.success(request, "Token revoked.")
    else:
        messages.info(request, "That token was already inactive.")
    return redirect("tokens")

"""Getting into a private incident: a page that reveals nothing about it, and the panel for those who are in."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from incidents import codename_typed, lifecycle, visibility
from incidents.lifecycle import access as asking
from incidents.lifecycle import opening
from incidents.models import Incident, Person
from incidents.views import panels
from incidents.views.panels import Panel, PanelState
from incidents.views.signed_in import Request, incident_or_404, signed_in

UNPROCESSABLE, TOO_MANY = 422, 429
ANSWERS = (("let-in", "Let in"), ("turn-away", "Not now"))
CODENAME = re.compile(r"[\w-]{1,80}", re.ASCII)  # as addresses allow it
CAME_FROM = re.compile(r"/incidents/([\w-]{1,80})/", re.ASCII)


@require_http_methods(["GET", "POST"])
@signed_in
def ask(request: Request, codename: str = "") -> HttpResponse:
    """Request access. The answer is the same for any codename the person may not see, real or not."""
    codename = _named(request, codename)
    if codename and (seen := _seen(request.person, codename)):
        return redirect(seen)
    if request.method == "GET":
        return render(request, "incidents/access.html", {"codename": codename, "asked": "asked" in request.GET})
    because = request.POST.get("because", "")
    try:
        _must_name(codename)
        lifecycle.ask_in(codename, person=request.person, because=because, at=timezone.now())
    except lifecycle.Refused as refused:
        context = {"codename": codename if CODENAME.fullmatch(codename) else "", "because": because}
        return render(request, "incidents/access.html", context | {"wrong": str(refused)}, status=UNPROCESSABLE)
    response = redirect("access", codename)
    response["Location"] += "?asked"
    return response


@require_http_methods(["GET", "POST"])
@signed_in
def glass(request: Request, codename: str) -> HttpResponse:
    """Break glass: after giving a reason in a sentence, a member gets access immediately, and the participants are
    told.
    """
    if seen := _seen(request.person, codename):
        return redirect(seen)
    context = {"codename": codename, "because": request.POST.get("because", "")}
    if request.method == "GET":
        return render(request, "incidents/glass.html", context)
    try:
        because = context["because"]
        incident = lifecycle.break_glass(codename, by=request.person, because=because, at=timezone.now())
    except lifecycle.Refused as refused:
        status = TOO_MANY if isinstance(refused, lifecycle.TooManyMisses) else UNPROCESSABLE
        return render(request, "incidents/glass.html", context | {"wrong": str(refused)}, status=status)
    return redirect(incident)


@require_GET
@signed_in
def panel(request: Request, codename: str) -> HttpResponse:
    """Show participants who else may see a private incident and why, who requests access, and what is published."""
    incident = incident_or_404(request.person, codename)
    context = {"incident": incident, "is_alone": True, **_read(request, incident, None).context}
    return render(request, "incidents/access_panel.html" + ("#panel" if request.htmx else ""), context)


def _read(request: Request, incident: Incident, _facts: object) -> PanelState:
    if not incident.private:
        return PanelState("public", {})
    proposed = opening.proposed(incident)
    reviewer = opening.reviewer_of(proposed) if proposed else None
    mine = proposed is not None and proposed.written_by_id == request.person.pk
    context = {
        "answers": ANSWERS,
        "waiting": asking.waiting(incident),
        "readers": visibility.readers(incident),
        "proposed": proposed,
        "reviewer": reviewer,
        "may_publish": not mine and reviewer in (None, request.person),
        "published": opening.published(incident),
    }
    return PanelState("", context)


panels.register(
    "access",
    Panel(_read, {"access": "incidents/access_panel.html#panel", "asking": "incidents/access_panel.html#asking"}),
)


def _named(request: Request, codename: str) -> str:
    """Return the codename from the address, from what was typed, or from the referring page."""
    if codename:
        return codename
    if request.method == "POST":
        return codename_typed.read(request.POST.get("codename", ""))
    came_from = CAME_FROM.match(urlsplit(request.headers.get("Referer", "")).path)
    return came_from[1] if came_from else ""


def _must_name(codename: str) -> None:
    if not CODENAME.fullmatch(codename):
        raise lifecycle.Refused("Enter the incident's codename: two words with a hyphen, like amber-otter.")


def _seen(person: Person, codename: str) -> Incident | None:
    try:
        return visibility.find(person, codename)
    except Incident.DoesNotExist:
        return None

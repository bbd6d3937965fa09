"""The page that opens an incident."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.safestring import SafeString
from django.views.decorators.http import require_http_methods, require_safe

from incidents.forms import DeclareForm
from incidents.lifecycle import rules
from incidents.models import IncidentType
from incidents.search import already_open
from incidents.views.signed_in import Request, signed_in


@dataclass(frozen=True, slots=True)
class DrawnPlan:
    """What declaring would do, rendered: the whole plan, and who it reaches, to show next to the button."""

    whole: SafeString
    reach: SafeString


DrawPlan = Callable[[Request, IncidentType, QueryDict], DrawnPlan]
registered: list[DrawPlan] = []


def register(draw: DrawPlan) -> None:
    """Have the page render the plan of the chosen type, with the rest of the form."""
    registered.append(draw)


@require_http_methods(["GET", "POST"])
@signed_in
def declare(request: Request) -> HttpResponse:
    """Show the form, and open an incident."""
    types = list(IncidentType.objects.filter(archived_at=None).select_related("current"))
    data = request.POST if request.method == "POST" else None
    form = DeclareForm(data, person=request.person, types=types)
    at = timezone.now()
    incident = form.declared(at=at) if data is not None else None
    if incident is not None and incident.declared_at < at:
        messages.info(request, "You already declared this. To declare another incident, give it a different title.")
    elif incident is not None and rules.is_long(form.cleaned_data["title"]):
        messages.info(request, rules.TITLE_CUT)
    if incident is not None:
        return redirect(incident)
    plans = [draw(request, form.chosen, data or QueryDict()) for draw in registered if form.chosen]
    context = {"form": form, "plans": plans, "since": int((form.since or at).timestamp())}
    context["already"] = already_open.near(data.get("title", ""), person=request.person) if data is not None else []
    return render(request, "incidents/declare.html", context, status=200 if data is None else 422)


@require_safe
@signed_in
def already(request: Request) -> HttpResponse:
    """List open incidents that may be the same, while the title is typed; nothing if none is similar."""
    found = already_open.near(request.GET.get("title", ""), person=request.person)
    return render(request, "incidents/declare.html#already", {"already": found})

"""Every verb of an incident except retype: asked on its own page or in a dialog, and carried out."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import trigger_client_event

from incidents.forms import VERBS
from incidents.views.signed_in import Request, incident_or_404, signed_in

UNPROCESSABLE = 422


@require_http_methods(["GET", "POST"])
@signed_in
def act(request: Request, codename: str, verb: str) -> HttpResponse:
    """Show a verb's form, or carry it out."""
    incident = incident_or_404(request.person, codename)
    if verb not in VERBS:
        raise Http404("No such verb.")
    finding = "find" in request.POST  # looking for a person, not submitting yet
    data = request.POST if request.method == "POST" else None
    form = VERBS[verb](data, incident=incident, person=request.person, asked=request.GET)
    if data is not None and not finding and form.done(at=timezone.now()):
        return done(request, form.said, to=incident.get_absolute_url())
    context = {"incident": incident, "policy": incident.policy, "form": form, "verb": verb, "finding": finding}
    status = UNPROCESSABLE if data is not None and not finding else 200
    return render(request, "incidents/act.html" + ("#dialog" if request.htmx else ""), context, status=status)


@require_POST
@signed_in
def write(request: Request, codename: str) -> HttpResponse:
    """Handle the form under the timeline: an update, or a note."""
    incident = incident_or_404(request.person, codename)
    verb = "note" if request.POST.get("kind") == "note" else "update"
    form = VERBS[verb](request.POST, incident=incident, person=request.person, asked={})
    context = {"incident": incident, "policy": incident.policy}
    if form.done(at=timezone.now()):
        if not request.htmx:
            return done(request, form.said, to=incident.get_absolute_url())
        incident.refresh_from_db(fields=["last_n"])
        response = render(request, "incidents/incident.html#composer", context)
        return _tell(response, form.said)
    context |= {"form": form, "alone": not request.htmx}
    name = "incidents/incident.html#composer" if request.htmx else "incidents/write.html"
    return render(request, name, context, status=UNPROCESSABLE)


def done(request: Request, said: str, *, to: str, is_done: bool = True) -> HttpResponse:
    """Answer with the outcome of a verb: an open page is told and refreshes, others are redirected to ``to``."""
    if request.htmx:
        return _tell(HttpResponse(status=204), said)
    messages.add_message(request, messages.SUCCESS if is_done else messages.ERROR, said)
    return redirect(to)


def _tell(response: HttpResponse, said: str) -> HttpResponse:
    trigger_client_event(response, "firekind:did", {"said": said})
    trigger_client_event(response, "firekind:changed", {})
    return response

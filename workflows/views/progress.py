"""The progress of an incident's plan, who is here and why, and retrying what failed."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from incidents.models import Incident
from incidents.views import act, panels
from incidents.views.panels import Panel, PanelState
from incidents.views.signed_in import Request, incident_or_404, signed_in
from workflows.status import page_status, retyped, workers
from workflows.status import progress as progressing
from workflows.status.page_status import Pages
from workflows.status.progress import Progress
from workflows.status.retyped import RetypedLine
from workflows.status.workers import WorkersNow
from workflows.views import pages


@signed_in
def progress(request: Request, codename: str) -> HttpResponse:
    """Show the plan's progress; as a fragment, 204 if nothing changed since ``seen``."""
    incident = incident_or_404(request.person, codename)
    digest, context = _state(progressing.of(incident), incident, workers.now(at=timezone.now()))
    if request.htmx and request.GET.get("seen") == digest:
        return HttpResponse(status=204)
    name = "workflows/progress.html" + ("#look" if request.htmx else "")
    return render(request, name, context | {"incident": incident, "digest": digest, "is_alone": True})


def _state(now: Progress, incident: Incident, carried_out: WorkersNow) -> PanelState:
    return PanelState(digest_of(now, incident, carried_out), _context(now) | {"workers": carried_out})


class PlanFacts(NamedTuple):
    """What the plan's panels show, the same for every viewer."""

    progress: Progress
    pages: Pages
    workers: WorkersNow
    retyped: RetypedLine | None


def _read(request: Request, incident: Incident, facts: PlanFacts) -> PanelState:
    now, paged, carried_out, turned = facts
    digest, context = _state(now, incident, carried_out)
    beside = pages.state(request, incident, paged)
    context |= beside.context | {"turned": turned}
    return PanelState(panels.digest_of((digest, beside.digest, turned)), context)


def _facts(incident: Incident) -> PlanFacts:
    now, at = progressing.of(incident), timezone.now()
    pages_now = page_status.of(incident, effects=now.effects)
    return PlanFacts(now, pages_now, workers.now(at=at), retyped.of(incident, now, at=at))


panels.register(
    "plan",
    Panel(
        _read,
        {
            "pages": "workflows/pages.html#panel",
            "you_paged": "workflows/pages.html#you",
            "progress": "workflows/progress.html#panels",
            "trouble": "workflows/progress.html#trouble",
            "retyped": "workflows/progress.html#retyped",
            "channel_link": "workflows/progress.html#channel_link",
        },
        _facts,
    ),
)


@require_POST
@signed_in
def retry(request: Request, codename: str, effect: int) -> HttpResponse:
    """Retry a failed effect."""
    incident = incident_or_404(request.person, codename)
    if not progressing.retry(effect, incident, by=request.person, at=timezone.now()):
        raise Http404("Nothing with that number has failed.")
    return act.done(request, "Retrying.", to=reverse("progress", args=[incident.codename]))


def digest_of(now: Progress, incident: Incident, carried_out: WorkersNow) -> str:
    """Return a digest of the state of the panels."""
    about = (incident.codename, incident.is_active)  # which buttons there are, and where they lead
    plan = (now.effects, now.people, now.channel, now.gaps, now.planned, now.left, now.stays)
    return panels.digest_of((about, plan, carried_out))


def _context(now: Progress) -> dict[str, Any]:
    order = {"failed": 0, "running": 1, "waiting": 2}
    pending = sorted((one for one in now.effects if one.state in order), key=lambda one: order[one.state])
    done = [one for one in now.effects if one.state == "done"]
    return {
        "progress": now,
        "counts": dict(now.counts),
        "total": len(now.effects),
        "pending": pending,
        "done": done,
        "needed": [one for one in now.people if one.needed and one.state != "left"],
        "not_needed": [one for one in now.people if not one.needed and one.state != "left"],
        "gone": [one for one in now.people if one.state == "left"],
    }

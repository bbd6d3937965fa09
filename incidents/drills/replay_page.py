"""The page of a replay: its progress, the open question, and what people said next to what was done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from incidents import lifecycle, timeline
from incidents.drills import pacing, replays, said_and_done
from incidents.forms.given import number
from incidents.models import Event, Incident, Replay
from incidents.views.signed_in import Request, incident_or_404, signed_in

UNPROCESSABLE: Final = 422
SPEEDS: Final = (1, 5, 10, 30, 60)
KINDS: Final = ("replay_asked", "would_do", "replayed")


@require_http_methods(["GET", "POST"])
@signed_in
def replay(request: Request, codename: str) -> HttpResponse:
    """Offer to replay an ended incident. For a replay, show its progress, take answers and skip ahead."""
    incident = incident_or_404(request.person, codename)
    if request.method == "POST":
        try:
            return redirect(ACTS.get(request.POST.get("do", ""), _nothing)(request, incident))
        except lifecycle.Refused as refused:
            return _page(request, incident, refused=str(refused), status=UNPROCESSABLE)
    return _page(request, incident)


def _page(request: Request, incident: Incident, *, refused: str = "", status: int = 200) -> HttpResponse:
    played = Replay.objects.filter(incident=incident).first()
    context = {"incident": incident, "policy": incident.policy, "refused": refused, "replay": played}
    context |= {"speeds": SPEEDS, "usual": replays.SPEED, "text": request.POST.get("text", "")}
    if played is not None:
        played.incident = incident
        context |= _so_far(incident, played)
    name = "incidents/replay.html" + ("#so_far" if request.htmx and request.method == "GET" else "")
    return render(request, name, context, status=status)


def _so_far(incident: Incident, played: Replay) -> dict[str, Any]:
    """Return the progress of a replay, any open question, and what was said and done so far."""
    planned = replays.steps_of(played)
    events = Event.objects.filter(incident=incident, kind__in=KINDS).select_related("by")
    beside = said_and_done.compare(timeline.entries(events))
    is_asked = bool(beside) and beside[-1].done is None and played.over_at is None
    return {
        "shown": sum(not step.asks for step in planned[: played.shown]),
        "all": sum(not step.asks for step in planned),
        "is_on": played.over_at is None and incident.is_active,
        "lasts_s": pacing.lasts(planned).total_seconds(),
        "asked": beside[-1] if is_asked else None,
        "beside": [one for one in reversed(beside) if one.done is not None],
        "past": incident.replays if played.over_at is not None else None,
    }


def _start(request: Request, incident: Incident) -> str:
    speed = number(request.POST.get("speed")) or 0
    return replays.start(incident, by=request.person, at=timezone.now(), speed=speed).get_absolute_url()


def _answer(request: Request, incident: Incident) -> str:
    replays.answer(incident, text=request.POST.get("text", ""), by=request.person, at=timezone.now())
    messages.success(request, "Your answer is on the timeline.")
    return reverse("replay", args=[incident.codename])


def _next(request: Request, incident: Incident) -> str:
    replays.show_next(incident, by=request.person, at=timezone.now())
    return reverse("replay", args=[incident.codename])


def _nothing(request: Request, incident: Incident) -> str:
    raise lifecycle.Refused("Choose what to do.")


ACTS: Final[Mapping[str, Callable[[Request, Incident], str]]] = {"start": _start, "answer": _answer, "next": _next}

"""What people send to a review: text, comments, a new state, and requests to compose a section again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from incidents import lifecycle
from incidents.forms.given import number
from incidents.models import Incident
from incidents.views.signed_in import Request, incident_or_404, signed_in, zone_named
from reviews import editing
from reviews.composing.document import KEYS
from reviews.views.page import NOTHING, UnsavedText, shown


class MeetingForm(forms.Form):
    """When a review is discussed, in the time zone that the page named when it was typed.

    ``was`` is the moment that was prefilled: for an hour that occurs twice, it keeps the one that was meant before.
    """

    on = forms.CharField(error_messages={"required": "Say when."})
    was = forms.CharField(required=False)

    def clean(self) -> dict[str, Any]:
        """Parse the moment."""
        given = super().clean() or {}
        if "on" in given:
            try:
                given["on"] = _moment(given["on"], was=given.get("was", ""))
            except (ValueError, OverflowError):
                self.add_error("on", "Give a day and a time.")
        return given


def _moment(typed: str, *, was: str) -> datetime:
    """Return the moment of a local time in the current time zone. Raises ``ValueError``, ``ValidationError``."""
    said = datetime.fromisoformat(typed)
    if said.tzinfo is not None:
        return said.astimezone(UTC)
    here = timezone.get_current_timezone()
    both = [said.replace(tzinfo=here, fold=fold).astimezone(UTC) for fold in (0, 1)]
    if both[0].astimezone(here).replace(tzinfo=None) != said:
        name = timezone.get_current_timezone_name()
        raise forms.ValidationError({"on": f"Clocks in {name} skip {said:%H:%M} on that day. Choose another time."})
    return next((one for one in both if str(int(one.timestamp())) == was), both[0])


@require_POST
@signed_in
def write(request: Request, codename: str, section: str) -> HttpResponse:
    """Save what someone wrote; if someone else saved in the meantime, show both and save nothing."""
    incident, text = _about(request, codename, section), request.POST.get("text", "")
    try:
        editing.write(
            incident,
            section=section,
            text=text,
            seen=request.POST.get("seen", ""),
            by=request.person,
            at=timezone.now(),
            below="below" in request.POST,
        )
    except editing.EditedMeanwhile as clash:
        return shown(request, incident, refused=str(clash), unsaved=UnsavedText(section, text), clash=clash)
    except lifecycle.Refused as refused:
        return shown(request, incident, refused=str(refused), unsaved=UnsavedText(section, text))
    return _back(request, incident, "Saved.", section=section)


@require_POST
@signed_in
def again(request: Request, codename: str, section: str) -> HttpResponse:
    """Compose a section again, up to the entry that its changes were shown for."""
    incident = _about(request, codename, section)
    to = number(request.POST.get("to")) or 0
    return _done(
        request,
        incident,
        lambda at: editing.write_again(incident, section=section, to=to, by=request.person, at=at),
        said="Updated from the timeline. What people wrote is unchanged.",
        unsaved=UnsavedText(section),
    )


@require_POST
@signed_in
def comment(request: Request, codename: str, section: str) -> HttpResponse:
    """Add a comment to a section."""
    incident, text = _about(request, codename, section), request.POST.get("comment", "")
    after = number(request.POST.get("after"))
    return _done(
        request,
        incident,
        lambda at: editing.comment(incident, section=section, text=text, by=request.person, at=at, after=after),
        said="Comment added.",
        unsaved=UnsavedText(section, comment=text),
    )


@require_POST
@signed_in
def settle(request: Request, codename: str, pk: int) -> HttpResponse:
    """Mark a comment as settled."""
    incident = incident_or_404(request.person, codename)
    return _done(
        request,
        incident,
        lambda at: editing.settle(incident, pk=pk, by=request.person, at=at),
        said="Comment settled.",
    )


@require_POST
@signed_in
def state(request: Request, codename: str) -> HttpResponse:
    """Plan the meeting, publish, or make it a draft again."""
    incident, person = incident_or_404(request.person, codename), request.person
    seen = request.POST.get("seen")
    match request.POST.get("to"):
        case "meeting":
            with timezone.override(zone_named(request.POST.get("zone", "")) or timezone.get_current_timezone()):
                return _plan(request, incident)
        case "published":
            return _done(
                request, incident, lambda at: editing.publish(incident, by=person, at=at, seen=seen), said="Published."
            )
        case "draft":
            return _done(
                request, incident, lambda at: editing.take_back(incident, by=person, at=at), said="It's a draft again."
            )
    raise Http404("No such state.")


def _plan(request: Request, incident: Incident) -> HttpResponse:
    form, unsaved = MeetingForm(request.POST), UnsavedText(on=request.POST.get("on", ""))
    if not form.is_valid():
        return shown(request, incident, refused=" ".join(map(str, form.errors["on"])), unsaved=unsaved)
    return _done(
        request,
        incident,
        lambda at: editing.plan_meeting(
            incident, on=form.cleaned_data["on"], by=request.person, at=at, seen=request.POST.get("seen")
        ),
        said="Planned.",
        unsaved=unsaved,
    )


def _about(request: Request, codename: str, section: str) -> Incident:
    incident = incident_or_404(request.person, codename)
    if section not in KEYS:
        raise Http404("No such section.")
    return incident


def _done(
    request: Request,
    incident: Incident,
    verb: Callable[[datetime], object],
    *,
    said: str,
    unsaved: UnsavedText = NOTHING,
) -> HttpResponse:
    try:
        verb(timezone.now())
    except lifecycle.Refused as refused:
        return shown(request, incident, refused=str(refused), unsaved=unsaved)
    return _back(request, incident, said, section=unsaved.section)


def _back(request: Request, incident: Incident, said: str, *, section: str) -> HttpResponse:
    messages.success(request, said)
    response = redirect("review", codename=incident.codename)
    response["Location"] += f"#{section}" if section else ""
    return response

"""The review of one incident: its composed sections, what people wrote, and what changed on the timeline since."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from incidents.models import Incident
from incidents.views.detail.page_reading import tints
from incidents.views.signed_in import Request, incident_or_404, signed_in
from reviews import reading
from reviews.composing import document
from reviews.composing.document import SECTIONS
from reviews.editing import EditedMeanwhile
from reviews.models import Review
from reviews.reading import ReviewDocument

CONFLICT, UNPROCESSABLE = 409, 422


@dataclass(frozen=True, slots=True)
class UnsavedText:
    """What someone sent that was not accepted: a section's text, a comment on one, or the time of the meeting."""

    section: str = ""
    text: str = ""
    comment: str = ""
    on: str = ""

    @property
    def said(self) -> str:
        """What they would otherwise have to write again."""
        return self.text or self.comment or self.on


NOTHING: Final = UnsavedText()


@require_GET
@signed_in
def page(request: Request, codename: str) -> HttpResponse:
    """Show the review; if the incident is active and no one has started it, say when it begins."""
    return shown(request, incident_or_404(request.person, codename))


@require_GET
@signed_in
def versions(request: Request, codename: str, section: str) -> HttpResponse:
    """Show every version of what people wrote in a section."""
    incident = incident_or_404(request.person, codename)
    kind = next((one for one in SECTIONS if one.key == section), None)
    if kind is None:
        raise Http404("No such section.")
    context = {"incident": incident, "kind": kind, "versions": reading.versions(incident, section)}
    return render(request, "reviews/versions.html", context)


def shown(
    request: Request,
    incident: Incident,
    *,
    refused: str = "",
    unsaved: UnsavedText = NOTHING,
    clash: EditedMeanwhile | None = None,
) -> HttpResponse:
    """Show the review, with the reason why something was not accepted, and the text that was sent."""
    context = about(incident) | {"refused": refused, "unsaved": unsaved, "clash": clash}
    status = CONFLICT if clash is not None else UNPROCESSABLE if refused else 200
    if is_too_early(incident):
        return render(request, "reviews/too_early.html", context, status=status)
    context |= {"writing": "", "commenting": ""} | {"commenting" if unsaved.comment else "writing": unsaved.section}
    found = reading.of(incident, reader=request.person)
    context |= {"document": found, "review": found.review, "person": request.person, "one_day": is_of_one_day(found)}
    context["is_written"] = any(part.text for part in found.parts)  # until then there is more to write than to publish
    return render(request, "reviews/review.html", context, status=status)


def is_too_early(incident: Incident) -> bool:
    """Return whether the incident is active and no one has started the review."""
    return incident.is_active and not Review.objects.filter(incident=incident).exists()


def about(incident: Incident) -> dict[str, Any]:
    """Return what every page of a review shows of its incident."""
    return {"incident": incident, "policy": incident.policy, "tints": tints()}


def is_of_one_day(found: ReviewDocument) -> bool:
    """Return whether everything happened on a single day for the reader, so that times need no date."""
    said = (one for part in found.parts for one in (*document.sentences(part.passages), *part.changes.added))
    return len({timezone.localtime(one.at).date() for one in said if one.at}) < 2

"""A review to download: Markdown, or one self-contained HTML file."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_GET

from incidents.audited import audit_notes
from incidents.models import Incident
from incidents.views.signed_in import Request, incident_or_404, signed_in
from reviews import reading
from reviews.exporting import as_html, as_markdown
from reviews.reading import ReviewDocument
from reviews.views.page import is_of_one_day, is_too_early


@require_GET
@signed_in
def markdown(request: Request, codename: str) -> HttpResponse:
    """Return the review as Markdown, with times in the reader's time zone."""
    incident = incident_or_404(request.person, codename)
    if is_too_early(incident):
        return redirect("review", codename=incident.codename)
    found, address = _read(request, incident, form="review.md")
    return attached(as_markdown.of(found, address=address), incident, "md", "text/markdown")


@require_GET
@signed_in
def html(request: Request, codename: str) -> HttpResponse:
    """Return the review as one HTML file."""
    incident = incident_or_404(request.person, codename)
    if is_too_early(incident):
        return redirect("review", codename=incident.codename)
    found, address = _read(request, incident, form="review.html")
    text = as_html.of(found, address=address, one_day=is_of_one_day(found))
    return attached(text, incident, "html", "text/html")


def _read(request: Request, incident: Incident, *, form: str) -> tuple[ReviewDocument, str]:
    """Return a review and the address of its incident, and record the export in the audit log."""
    audit_notes.note("export", by=request.person, about=incident.codename, form=form)
    found = reading.of(incident, reader=request.person)
    return found, request.build_absolute_uri(incident.get_absolute_url())


def attached(text: str, incident: Incident, ending: str, kind: str) -> HttpResponse:
    """Return a file download named after the incident and the day."""
    response = HttpResponse(text, content_type=f"{kind}; charset=utf-8")
    day = f"{timezone.localtime():%Y-%m-%d}"
    response["Content-Disposition"] = f'attachment; filename="{incident.codename}-review-{day}.{ending}"'
    return response

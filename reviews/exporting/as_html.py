"""A review as one HTML file with its style and pictures, which loads nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe

from evidence.intake.storage import StorageError
from evidence.models import Evidence
from evidence.models.evidence import Kind, State
from reviews.exporting import as_markdown, flame_svg
from reviews.reading import ReviewDocument

STYLE: Final = Path(__file__).with_name("style.css")
MOST_PICTURES: Final = 12  # further evidence is linked


def of(document: ReviewDocument, *, address: str, one_day: bool) -> str:
    """Return the whole file; ``address`` is the incident's page, to which sources link."""
    incident = document.incident
    context = {
        "document": document,
        "incident": incident,
        "policy": incident.policy,
        "review": document.review,
        "state": as_markdown.state_of(document.review),
        "address": address,
        "one_day": one_day,
        "pictures": _pictures(document),
        "zone": timezone.get_current_timezone_name(),
        "now": timezone.now(),
        "style": mark_safe(STYLE.read_text(encoding="utf-8")),  # noqa: S308 (a file of ours)
    }
    return render_to_string("reviews/export.html", context)


def _pictures(document: ReviewDocument) -> dict[int, SafeString]:
    """Draw the flame graphs that the review shows, by the number of their evidence."""
    shown = [one.evidence for part in document.parts for one in part.passages if one.pictured][:MOST_PICTURES]
    found = Evidence.objects.filter(
        incident=document.incident, n__in=shown, kind=Kind.PROFILE, state=State.READY
    ).exclude(tree="")
    drawn = {}
    for one in found:
        try:
            drawn[one.n] = mark_safe(flame_svg.of(one))  # noqa: S308 (names are escaped where it is drawn)
        except StorageError:
            continue  # it is linked instead
    return drawn

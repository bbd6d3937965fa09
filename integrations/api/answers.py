"""What the REST door answers: JSON, with words for people beside words for programs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from django.conf import settings
from django.http import HttpResponse, JsonResponse

from evidence.models import Evidence
from incidents.models import Incident

CREATED: Final = 201


def refused(status: int, error: str, says: str, **more: Any) -> HttpResponse:
    """Say no: ``error`` for programs, ``says`` for people."""
    response = JsonResponse({"error": error, "says": says, **more}, status=status)
    if status == 401:
        response["WWW-Authenticate"] = 'Bearer realm="firekind"'
    return _fresh(response)


def unknown_token() -> HttpResponse:
    """Say that no token came, or none that works."""
    return refused(401, "unauthorized", "Send a token that works: Authorization: Bearer fk_…")


def not_found() -> HttpResponse:
    """Say that there is none, whether it is hidden or absent."""
    return refused(404, "not_found", "There is no such incident, or no such evidence.")


def too_large() -> HttpResponse:
    """Say that a file is larger than what is taken."""
    most = settings.FIREKIND.evidence_max_mib
    return refused(413, "too_large", f"The file is larger than the {most:,} MiB that are taken.")


def one(evidence: Evidence, *, status: int = 200) -> HttpResponse:
    """Describe one piece of evidence."""
    response = JsonResponse(described(evidence), status=status)
    if status == CREATED:
        response["Location"] = address(evidence)
    return _fresh(response)


def several(incident: Incident, found: Iterable[Evidence]) -> HttpResponse:
    """List the evidence of an incident."""
    return _fresh(JsonResponse({"incident": incident.codename, "evidence": [described(each) for each in found]}))


def described(evidence: Evidence) -> dict[str, Any]:
    """Return evidence as plain values: its number, page, state, and what it says once it was read."""
    return {
        "n": evidence.n,
        "url": address(evidence),
        "state": evidence.state,
        "says": evidence.says,
        "guards": evidence.summary.get("guards", []),
        "title": evidence.title,
        "kind": evidence.kind,
        "format": evidence.format,
        "unit": evidence.unit or (evidence.default_type or {}).get("unit", ""),
        "size": evidence.size,
        "phase": evidence.phase,
        "variant": evidence.variant,
        "control": evidence.is_control,
        "from": evidence.window_from,
        "to": evidence.window_to,
        "source": evidence.origin.get("source", ""),
        "link": evidence.link,
        "added_by": evidence.added_by.name if evidence.added_by else None,
        "added_at": evidence.added_at,
    }


def address(evidence: Evidence) -> str:
    """Return the page of a piece of evidence."""
    page = evidence.incident.get_absolute_url()
    return f"{settings.FIREKIND.base_url}{page}evidence/{evidence.n}/"


def _fresh(response: HttpResponse) -> HttpResponse:
    response["Cache-Control"] = "no-store"
    return response

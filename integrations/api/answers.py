"""REST responses: JSON with text for people next to codes for programs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from django.conf import settings
from django.http import HttpResponse, JsonResponse

from evidence.models import Evidence
from incidents import lifecycle
from incidents.models import Incident

CREATED: Final = 201


def refused(status: int, error: str, says: str, **more: Any) -> HttpResponse:
    """Refuse: ``error`` for programs, ``says`` for people."""
    response = JsonResponse({"error": error, "says": says, **more}, status=status)
    if status == 401:
        response["WWW-Authenticate"] = 'Bearer realm="firekind"'
    return fresh(response)


def unknown_token() -> HttpResponse:
    """Answer that the token is missing or not valid."""
    return refused(401, "unauthorized", "Send a valid token: Authorization: Bearer fk_…")


def not_found() -> HttpResponse:
    """Answer that it does not exist, whether it is hidden or absent."""
    return refused(404, "not_found", "No such incident or evidence.")


def no_address() -> HttpResponse:
    """Answer that no endpoint has this address, and where all endpoints are described."""
    says = "There is nothing at this address. Check the codename; /api/v1/openapi.json describes every address."
    return refused(404, "not_found", says)


def beyond(scope: str) -> HttpResponse:
    """Answer that the token lacks the scope; nothing was looked up."""
    says = f"This token cannot do that: create one with the scope {scope}."
    response = refused(403, "insufficient_scope", says, scope=scope)
    response["WWW-Authenticate"] = f'Bearer realm="firekind", error="insufficient_scope", scope="{scope}"'
    return response


def too_many(seconds: int) -> HttpResponse:
    """Answer that a token sends too many requests, and when to retry."""
    response = refused(429, "too_many", f"Too many requests with this token. Try again in {seconds} s.")
    response["Retry-After"] = str(seconds)
    return response


def not_allowed(*methods: str) -> HttpResponse:
    """Answer with the methods that an address accepts."""
    response = refused(405, "not_allowed", f"Use {' and '.join(methods)}.")
    response["Allow"] = ", ".join(methods)
    return response


def bad_parameter(wrong: lifecycle.BadInput) -> HttpResponse:
    """Answer with the name of the parameter that cannot be used."""
    return refused(400, "bad_parameter", str(wrong), parameter=wrong.field)


def bad_body(says: str) -> HttpResponse:
    """Answer why the body is not a usable file."""
    return refused(400, "bad_body", says)


def too_large() -> HttpResponse:
    """Answer that a file is too large."""
    most = settings.FIREKIND.evidence_max_mib
    return refused(413, "too_large", f"The file is larger than the {most:,} MiB limit.")


def one(evidence: Evidence, *, status: int = 200) -> HttpResponse:
    """Describe one piece of evidence."""
    response = JsonResponse(described(evidence), status=status)
    if status == CREATED:
        response["Location"] = address(evidence)
    return fresh(response)


def several(incident: Incident, found: Iterable[Evidence]) -> HttpResponse:
    """List the evidence of an incident."""
    return fresh(JsonResponse({"incident": incident.codename, "evidence": [described(each) for each in found]}))


def described(evidence: Evidence) -> dict[str, Any]:
    """Return evidence as plain values: its number, page and state, and its summary sentence once it has been read."""
    return {
        "n": evidence.n,
        "url": address(evidence),
        "state": evidence.state,
        "says": evidence.says,
        "guards": evidence.summary.get("guards", []),
        "title": evidence.title,
        "kind": evidence.kind,
        "format": evidence.format,
        "unit": (evidence.default_type or {}).get("unit", evidence.unit),
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
    """Return the URL of a piece of evidence's page."""
    page = evidence.incident.get_absolute_url()
    return f"{settings.FIREKIND.base_url}{page}evidence/{evidence.n}/"


def fresh(response: HttpResponse) -> HttpResponse:
    """Forbid caching of a response."""
    response["Cache-Control"] = "no-store"
    return response

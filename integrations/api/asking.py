"""Identify the caller and the incident of a request: by a token, never by a session."""

from __future__ import annotations

from django.utils import timezone

from evidence.intake import tokens
from evidence.models import Token
from incidents import lifecycle, still_seen, visibility
from incidents.audited import audit_notes
from incidents.models import Incident


def token_of(authorization: str) -> Token | None:
    """Return the token of an ``Authorization: Bearer …`` header; None when it is missing or not valid."""
    scheme, _, secret = authorization.strip().partition(" ")
    return tokens.find(secret.strip(), at=timezone.now()) if scheme.lower() == "bearer" else None


class TokenEnded(lifecycle.Refused):
    """The token was revoked, or its owner deactivated, while the body arrived, which can take minutes."""


def check(token: Token) -> None:
    """Raise ``TokenEnded`` unless the token still grants what it did when the request began."""
    if not tokens.stands(token):
        raise TokenEnded


def incident_of(token: Token, codename: str) -> Incident | None:
    """Return the incident of a codename, if the token covers it and the token's owner may see it now."""
    try:
        incident = visibility.find(token.person, codename)
    except Incident.DoesNotExist:
        return None
    if token.incident_id not in (None, incident.pk):
        return None
    still_seen.note(incident)
    audit_notes.read(incident, by=token.person)
    return incident


def own_incident(token: Token) -> Incident | None:
    """Return the incident that a token is limited to, if the token's owner may see it now."""
    seen = visibility.visible_to(token.person).filter(pk=token.incident_id or 0)
    return seen.select_related("type", "policy_version", "lead", "declared_by").first()

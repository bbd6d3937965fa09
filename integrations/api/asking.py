"""Who asks, and for which incident: a token, never a session."""

from __future__ import annotations

from django.utils import timezone

from evidence.intake import tokens
from evidence.models import Token
from incidents import lifecycle, still_seen, visibility
from incidents.audited import audit_notes
from incidents.models import Incident


def token_of(authorization: str) -> Token | None:
    """Return the token of an ``Authorization: Bearer …`` header; None when there is none that works."""
    scheme, _, secret = authorization.strip().partition(" ")
    return tokens.find(secret.strip(), at=timezone.now()) if scheme.lower() == "bearer" else None


class TokenEnded(lifecycle.Refused):
    """The token was revoked, or its owner let go, while a body arrived, which may take minutes."""


def check(token: Token) -> None:
    """Raise ``TokenEnded`` unless what the token was worth when a request began still holds."""
    if not tokens.stands(token):
        raise TokenEnded


def incident_of(token: Token, codename: str) -> Incident | None:
    """Return the incident of a codename, if this token is for it and its person may see it at this moment."""
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
    """Return the incident that a token is for, if its person may see it at this moment."""
    seen = visibility.visible_to(token.person).filter(pk=token.incident_id or 0)
    return seen.select_related("type", "policy_version", "lead", "declared_by").first()

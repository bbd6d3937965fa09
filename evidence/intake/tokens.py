"""Tokens let an affected host, or a script, add evidence or read incidents as the person who created them."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet

from evidence.models import Token
from evidence.models.token import Scope, evidence_alone
from incidents import lifecycle
from incidents.audited import audit_notes
from incidents.claiming.recent import is_recent
from incidents.claiming.shared_clock import clock
from incidents.lifecycle import rules
from incidents.models import Incident, Person
from incidents.written_rows import WrittenRows

PREFIX: Final = "fk_"  # so that secret scanners can recognise ours
SHAPE: Final = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{43}}", re.ASCII)
FOR_AN_INCIDENT: Final = timedelta(hours=12)
PERSONAL: Final = timedelta(days=90)
AT_MOST: Final = 100  # active at the same time, per person
USED_EVERY: Final = timedelta(minutes=1)
TOKEN: Final = WrittenRows(  # read first by every request to the API
    Token,
    of="t",
    beside={
        "person": WrittenRows(Person, of="p", beside={"user": WrittenRows(User, of="u")}),
        "incident": WrittenRows(Incident, of="i", but=["words"]),
    },
)
WHOLE: Final = """
    FROM evidence_token t
    JOIN incidents_person p ON p.id = t.person_id LEFT JOIN auth_user u ON u.id = p.user_id
    LEFT JOIN incidents_incident i ON i.id = t.incident_id
"""
UNREVOKED: Final = f"{WHOLE} WHERE t.id = %s AND t.revoked_at IS NULL"
WORKING: Final = f"{WHOLE} WHERE t.hash = %s AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > %s)"


@dataclass(frozen=True, slots=True)
class Issued:
    """A new token; ``secret`` is shown once and stored nowhere."""

    token: Token
    secret: str


@transaction.atomic
def issue(
    person: Person,
    *,
    at: datetime,
    incident: Incident | None = None,
    name: str = "",
    lasts: timedelta | None = None,
    scopes: Collection[str] | None = None,
) -> Issued:
    """Create a token: for one incident it lasts some hours, a personal one some months. It adds evidence by default.

    Raises ``NotThere`` if this person may not see the incident, ``Refused`` if they have too many already, and
    ``BadInput`` for invalid scopes.
    """
    if incident is not None:
        incident = rules.held(incident, by=person)
    asked = _scopes(scopes, narrow=incident is not None)
    if working(person, at=at).count() >= AT_MOST:
        raise lifecycle.Refused(f"You have {AT_MOST} active tokens. Revoke some you no longer need first.")
    secret = f"{PREFIX}{secrets.token_urlsafe(32)}"
    token = Token.objects.create(
        person=person,
        incident=incident,
        name=" ".join("".join(one for one in name if one.isprintable()).split())[:80],
        scopes=asked,
        hash=_hash(secret),
        hint=secret[-4:],
        created_at=at,
        expires_at=clock.at(at) + (lasts or (FOR_AN_INCIDENT if incident else PERSONAL)),
    )
    audit_notes.note("token-made", by=person, about=_about(token), **_said(token))
    return Issued(token, secret)


def find(secret: str, *, at: datetime) -> Token | None:
    """Return the active token for a secret, if its person is still here; records its use now and then.

    It is looked up by its hash, so that timing reveals nothing about the secret.
    """
    if not SHAPE.fullmatch(secret):
        return None
    digest, now = _hash(secret), clock.at(at)
    token = TOKEN.first(WORKING, [digest, now])
    if token is None or not hmac.compare_digest(token.hash, digest) or not _is_here(token.person):
        return None
    if token.last_used_at is None:
        audit_notes.once(f"token-used:{token.pk}", "token-used", by=token.person, about=_about(token), **_said(token))
    if token.last_used_at is None or not is_recent(token.last_used_at, at=now, within=USED_EVERY):
        Token.objects.filter(pk=token.pk).update(last_used_at=now)
    return token


def stands(token: Token) -> bool:
    """Return whether a token that was valid a moment ago was not revoked since, and its person is still here.

    A token that expires during an upload was still in time.
    """
    found = TOKEN.first(UNREVOKED, [token.pk])
    return found is not None and _is_here(found.person)


def working(person: Person, *, at: datetime) -> QuerySet[Token]:
    """Return a person's active tokens, newest first."""
    return _live(at=at).filter(person=person).select_related("incident").defer("incident__words").order_by("-pk")


@transaction.atomic
def revoke(token_id: int, *, by: Person, at: datetime) -> bool:
    """Revoke one of one's own tokens; return whether it was active until now."""
    token = working(by, at=at).filter(pk=token_id).first()
    if token is None or not working(by, at=at).filter(pk=token_id).update(revoked_at=at):
        return False
    audit_notes.note("token-revoked", by=by, about=_about(token), **_said(token))
    return True


def _live(*, at: datetime) -> QuerySet[Token]:
    return Token.objects.filter(Q(expires_at=None) | Q(expires_at__gt=clock.at(at)), revoked_at=None)


def _is_here(person: Person) -> bool:
    return not person.deactivated and (person.user is None or person.user.is_active)


def _scopes(asked: Collection[str] | None, *, narrow: bool) -> list[str]:
    if asked is None:
        return evidence_alone()
    known = [one.value for one in Scope if one in asked]
    if not known or len(known) != len(set(asked)):
        raise lifecycle.BadInput("scopes", "Choose at least one scope.")
    if narrow and known != evidence_alone():
        raise lifecycle.BadInput("scopes", "A token for one incident can only add evidence to that incident.")
    return known


def _about(token: Token) -> str:
    """Return what the audit log says a token was for."""
    return token.incident.codename if token.incident is not None else f"…{token.hint}"


def _said(token: Token) -> dict[str, str | int]:
    return {"token": token.pk, "name": token.name, "ends": token.hint, "scopes": " ".join(token.scopes)}


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()

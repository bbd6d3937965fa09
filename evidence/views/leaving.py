"""Log what leaves: each file, and once an hour who looks at evidence of a private incident."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils import timezone

from evidence.models import Evidence
from incidents.audited import audit_notes
from incidents.models import Person

ORIGINAL = "original"


def taken(evidence: Evidence, *, by: Person, form: str) -> None:
    """Log that someone downloaded a file; the log never contains a title."""
    about = evidence.incident.codename
    audit_notes.note(_kind(form), by=by, about=about, evidence=evidence.n, form=form)


def shown(evidence: Evidence, *, by: Person, form: str) -> None:
    """Log that a page showed a file, such as a picture: in a private incident, once an hour for each reader."""
    _once(evidence, _kind(form), by=by, form=form)


def looked_at(evidences: Iterable[Evidence], *, by: Person) -> None:
    """Log that someone read what evidence says, on a page or by a token: in a private incident, once an hour."""
    for evidence in evidences:
        _once(evidence, "viewed", by=by, form="")


def _once(evidence: Evidence, kind: str, *, by: Person, form: str) -> None:
    incident = evidence.incident
    if incident.private:
        key = f"{kind}:{by.pk}:{evidence.pk}:{form}:{timezone.now():%Y-%m-%dT%H}"
        said = {"evidence": evidence.n} | ({"form": form} if form else {})
        audit_notes.once(key, kind, by=by, about=incident.codename, **said)


def _kind(form: str) -> str:
    return "download" if form == ORIGINAL else "export"

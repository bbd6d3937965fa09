"""Evidence by REST: upload a file with a token, read its state."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Final

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from evidence.intake import receiving
from evidence.models import Evidence, Token
from evidence.models.evidence import State
from evidence.models.token import Scope
from evidence.views import leaving
from incidents import lifecycle
from incidents.models import Incident
from incidents.outages import spare_connections
from integrations.api import answers, asking, parameters
from integrations.api.admitting import admits
from integrations.api.parameters import UploadParameters
from integrations.api.query_schemas import UPLOAD

CHUNK: Final = 1 << 18
LOOK_EVERY_S: Final = 0.25
LISTED: Final = 500
FORMS: Final = ("multipart/form-data",)
# What the readers can decompress; other encodings would look like noise.
CODINGS: Final = frozenset(("", "identity", "gzip", "x-gzip", "zstd", "bzip2", "xz"))
_waiting = threading.BoundedSemaphore(2)  # of the few threads that receive files


@admits(Scope.EVIDENCE_WRITE, GET=(), POST=UPLOAD)
def evidence(request: HttpRequest, token: Token, codename: str) -> HttpResponse:
    """Add a file as evidence of an incident, or list its evidence."""
    incident = asking.incident_of(token, codename)
    if incident is None:
        return answers.not_found()
    return _taken(request, incident, token) if request.method == "POST" else _listed(incident, token)


@admits(Scope.EVIDENCE_WRITE, GET=())
def one(request: HttpRequest, token: Token, codename: str, n: int) -> HttpResponse:
    """Describe one piece of evidence."""
    incident = asking.incident_of(token, codename)
    found = _of(incident, token).filter(n=n).first() if incident else None
    if incident is None or found is None:
        return answers.not_found()
    found.incident = incident
    leaving.looked_at([found], by=token.person)
    return answers.one(found)


def _taken(request: HttpRequest, incident: Incident, token: Token) -> HttpResponse:
    if says := _no_file(request):
        return answers.bad_body(says)
    if int(request.headers.get("Content-Length") or 0) > settings.FIREKIND.evidence_max_mib * receiving.MIB:
        return answers.too_large()
    try:
        asked = parameters.read(request.GET)
        found = receiving.receive(
            incident,
            body=_chunks(request, token),
            title=asked.title,
            by=token.person,
            via="api",
            at=timezone.now(),
            file_name=asked.file_name,
            origin={"token": token.pk} | ({"source": asked.source} if asked.source else {}),
            window=asked.window,
            phase=asked.phase,
            variant=asked.variant,
            is_control=asked.is_control,
            unit=asked.unit,
        )
    except lifecycle.Refused as refusal:
        return _refused(refusal)
    return answers.one(_read(found, asked), status=answers.CREATED)


def _refused(why: lifecycle.Refused) -> HttpResponse:
    if isinstance(why, asking.TokenEnded):
        return answers.unknown_token()
    if isinstance(why, receiving.EvidenceTooLarge):
        return answers.too_large()
    if not isinstance(why, lifecycle.BadInput):
        return answers.refused(400, "refused", str(why))
    return answers.bad_body(str(why)) if why.field == "file" else answers.bad_parameter(why)


def _no_file(request: HttpRequest) -> str:
    """Say from the headers why a body cannot be a readable file; empty when it may be one."""
    if request.content_type in FORMS:
        return "Send the file itself as the body: curl --data-binary @file"
    if request.headers.get("Content-Encoding", "").strip().lower() not in CODINGS:
        return "Send it uncompressed, or compressed with gzip, zstd, bzip2 or xz."
    return ""


def _chunks(request: HttpRequest, token: Token) -> Iterator[bytes]:
    """Yield the body, then raise ``TokenEnded`` if the token was revoked while it arrived."""
    while chunk := request.read(CHUNK):
        yield chunk
    asking.check(token)


def _read(found: Evidence, asked: UploadParameters) -> Evidence:
    """Wait until the file is read, for as long as the request asks, unless too many requests already wait."""
    if asked.wait_s <= 0 or not _waiting.acquire(blocking=False):
        return found
    try:
        until = time.monotonic() + asked.wait_s
        while found.state == State.READING and time.monotonic() < until:
            spare_connections.give_back()
            time.sleep(LOOK_EVERY_S)
            found.refresh_from_db(fields=["state", "says", "kind", "format", "summary"])
    finally:
        _waiting.release()
    return found


def _listed(incident: Incident, token: Token) -> HttpResponse:
    listed = [_with(incident, each) for each in _of(incident, token).order_by("-n")[:LISTED]]
    leaving.looked_at(listed, by=token.person)
    return answers.several(incident, listed)


def _with(incident: Incident, found: Evidence) -> Evidence:
    found.incident = incident
    return found


def _of(incident: Incident, token: Token) -> QuerySet[Evidence]:
    """Return the evidence a token may read: all of it, or only its own if it is limited to one incident."""
    seen = Evidence.objects.filter(incident=incident).exclude(state=State.WITHDRAWN).select_related("added_by")
    return seen.filter(origin__token=token.pk) if token.incident_id else seen

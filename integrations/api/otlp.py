"""Receive profiles pushed over OTLP at `/v1development/profiles`, as a collector sends them.

https://opentelemetry.io/docs/specs/otlp/#otlphttp. A token limited to one incident determines the incident; a personal
token needs the header ``X-Firekind-Incident`` or the resource attribute ``firekind.incident``.
"""

from __future__ import annotations

import mmap
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import IO, Final

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt

from evidence.intake import receiving, storage
from evidence.models import Evidence, Token
from evidence.models.token import Scope
from incidents import lifecycle
from incidents.claiming.shared_clock import clock
from incidents.models import Incident
from integrations.api import admitting, asking, wire
from integrations.api.wire import NotProtobuf, TooManyFields

KIND: Final = "application/x-protobuf"
MOST: Final = 64 << 20  # after decompression
CHUNK: Final = 1 << 18
HEADER, ATTRIBUTE, SERVICE = "X-Firekind-Incident", "firekind.incident", "service.name"
A_MINUTE: Final = 30  # pushes per token: each one becomes a timeline entry that people are notified of
TOO_LARGE: Final = f"More than {MOST >> 20} MiB after decompression."
TOO_MANY: Final = f"More than {wire.FIELDS_AT_MOST:,} fields: send smaller batches."
NOT_KNOWN: Final = "Send a valid token: Authorization: Bearer fk_…"
NOT_FOUND: Final = "No such incident."


class PushRefused(Exception):
    """A push was refused: the status, and words for the person who runs the collector."""

    def __init__(self, status: int, says: str) -> None:
        super().__init__(says)
        self.status = status


@csrf_exempt
def profiles(request: HttpRequest) -> HttpResponse:
    """Add an ExportProfilesServiceRequest as evidence, and answer as OTLP requires."""
    try:
        _take(request)
    except PushRefused as refusal:
        return answer(refusal.status, str(refusal))
    except lifecycle.NotThere:
        return answer(404, NOT_FOUND)
    except asking.TokenEnded:
        return answer(401, NOT_KNOWN)
    return HttpResponse(b"", content_type=KIND)  # an empty ExportProfilesServiceResponse: everything was accepted


def answer(status: int, says: str) -> HttpResponse:
    """Return a refusal in OTLP's format."""
    response = HttpResponse(wire.status(says), status=status, content_type=KIND)
    if status == 401:
        response["WWW-Authenticate"] = 'Bearer realm="firekind"'
    if status == 429:
        response["Retry-After"] = "60"
    if status == 405:
        response["Allow"] = "POST"
    return response


def _take(request: HttpRequest) -> None:
    if request.method != "POST":
        raise PushRefused(405, "Use POST to send profiles.")
    token = asking.token_of(request.headers.get("Authorization", ""))
    if token is None:
        raise PushRefused(401, NOT_KNOWN)
    if seconds := admitting.wait_s(token):
        raise PushRefused(429, f"Too many requests with this token. Try again in {seconds} s.")
    if Scope.EVIDENCE_WRITE not in token.scopes:
        raise PushRefused(403, f"This token cannot add evidence: create one with the scope {Scope.EVIDENCE_WRITE}.")
    if request.content_type != KIND:
        raise PushRefused(415, f"Send Content-Type: {KIND}.")
    with _unpacked(request) as (file, resources):
        if resources:
            asking.check(token)
            about = {key: value for one in reversed(resources) for key, value in one.items()}
            incident = _meant(request, token, about)
            _check_pace(incident, token)
            _receive(incident, file, token, about)


def _receive(incident: Incident, file: IO[bytes], token: Token, about: dict[str, str]) -> None:
    service = "".join(one for one in about.get(SERVICE, "") if one.isprintable())[:80]
    origin = {"token": token.pk} | ({"source": service} if service else {})
    try:
        receiving.receive(
            incident,
            body=iter(lambda: file.read(CHUNK), b""),
            title=f"Profiles of {service}" if service else "Pushed profiles",
            by=token.person,
            via="otlp",
            at=timezone.now(),
            origin=origin,
        )
    except lifecycle.Refused as refused:
        raise PushRefused(400, str(refused)) from refused


def _meant(request: HttpRequest, token: Token, about: dict[str, str]) -> Incident:
    named = request.headers.get(HEADER, "").strip() or about.get(ATTRIBUTE, "").strip()
    if not named and token.incident_id is None:
        raise PushRefused(400, f"Name the incident in the header {HEADER} or the resource attribute {ATTRIBUTE}.")
    incident = asking.incident_of(token, named) if named else asking.own_incident(token)
    if incident is None:
        raise PushRefused(404, NOT_FOUND)
    return incident


def _check_pace(incident: Incident, token: Token) -> None:
    lately = clock.at(timezone.now()) - timedelta(minutes=1)
    pushed = Evidence.objects.filter(incident=incident, added_at__gt=lately, origin__token=token.pk)
    if pushed.count() >= A_MINUTE:
        raise PushRefused(429, f"More than {A_MINUTE} pushes a minute: people are notified of each one.")


@contextmanager
def _unpacked(request: HttpRequest) -> Iterator[tuple[IO[bytes], list[dict[str, str]]]]:
    """Decompress the body into a file, and read the attributes of its resources."""
    with tempfile.TemporaryFile(buffering=0) as file:
        for chunk in _decoded(request):
            storage.write(file, chunk)
        size = file.tell()
        file.seek(0)
        yield file, _resources(file) if size else []


def _resources(file: IO[bytes]) -> list[dict[str, str]]:
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        try:
            return wire.resources(data)
        except NotProtobuf as wrong:
            raise PushRefused(400, f"Not an ExportProfilesServiceRequest: {wrong}.") from wrong
        except TooManyFields as wrong:
            raise PushRefused(413, TOO_MANY) from wrong


def _decoded(request: HttpRequest) -> Iterator[bytes]:
    coding = request.headers.get("Content-Encoding", "").strip().lower()
    if coding not in ("", "identity", "gzip"):
        raise PushRefused(415, "Send it uncompressed, or with Content-Encoding: gzip.")
    chunks = iter(lambda: request.read(CHUNK), b"")
    size = 0
    for chunk in _gunzipped(chunks) if coding == "gzip" else chunks:
        size += len(chunk)
        if size > MOST:
            raise PushRefused(413, TOO_LARGE)
        yield chunk


def _gunzipped(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Decompress gzip piece by piece, including concatenated members."""
    unpacker = zlib.decompressobj(31)
    begun = False
    try:
        for chunk in chunks:
            left = chunk
            while left:
                if unpacker.eof:
                    unpacker = zlib.decompressobj(31)
                begun = True
                piece = unpacker.decompress(left, CHUNK)
                yield piece
                left = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail
                while not left and len(piece) == CHUNK and not unpacker.eof:  # output is still pending
                    piece = unpacker.decompress(b"", CHUNK)
                    yield piece
    except zlib.error as wrong:
        raise PushRefused(400, "This is not gzip.") from wrong
    if begun and not unpacker.eof:
        raise PushRefused(400, "The gzip data is truncated.")

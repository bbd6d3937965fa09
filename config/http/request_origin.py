"""Where a request comes from, as the audit records it."""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Final

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from audit import log_ids, request_origin, tracing

log = logging.getLogger(__name__)
NOT_BELIEVED: Final = "%s says that a request came over TLS and is not believed: name it in FORWARDED_ALLOW_IPS"
# For a vendor's door, the address is the vendor's, which says nothing about the person.
DOORS: Final = {
    "/slack/": "slack",
    "/pagerduty/": "system",
    "/tracker/": "system",
    "/api/": "api",
    "/v1development/": "api",
}
ADDRESSED: Final = ("web", "api")
REQUEST_ID: Final = re.compile(r"[A-Za-z0-9-]{8,64}")  # as proxies write it


class OriginMiddleware:
    """Middleware: attribute what is recorded during a request to its door and its address."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        door = door_of(request.path_info)
        address = request.META.get("REMOTE_ADDR", "") if door in ADDRESSED else ""
        with request_origin.at(door, address), log_ids.of(request=_request_id(request)), _traced(request, door):
            return self._get_response(request)


class ProxyDoubts:
    """Middleware: log once that a proxy is not trusted, if that causes a redirect loop."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response
        self._said = False

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        over_tls = request.headers.get("X-Forwarded-Proto", "").strip() == "https"
        if over_tls and not self._said and settings.FIREKIND.https and not request.is_secure():
            self._said = True
            log.warning(NOT_BELIEVED, request.META.get("REMOTE_ADDR", ""))
        return self._get_response(request)


def _traced(request: HttpRequest, door: str) -> AbstractContextManager[object]:
    """Start a trace for a request that may change something; named by its door, as an address may hold a codename."""
    if request.method in {"GET", "HEAD", "OPTIONS"}:
        return nullcontext()
    return tracing.span(f"{door} {request.method}", kind=tracing.SERVER)


def _request_id(request: HttpRequest) -> str:
    """Return the request id from a proxy, or a new one: it links the log lines of a request."""
    given = request.headers.get("X-Request-ID", "")
    return given if REQUEST_ID.fullmatch(given) else secrets.token_hex(8)


def door_of(path: str) -> str:
    """Return the door that an address belongs to."""
    return next((door for prefix, door in DOORS.items() if path.startswith(prefix)), "web")

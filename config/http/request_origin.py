"""Where a request comes from, as the audit notes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from audit import request_origin

# Of a vendor's door the address is the vendor's, which says nothing about who came.
DOORS: Final = {"/slack/": "slack", "/pagerduty/": "system", "/api/": "api", "/v1development/": "api"}
ADDRESSED: Final = ("web", "api")


class OriginMiddleware:
    """Middleware: what is noted while a request is answered came through its door, from its address."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        door = door_of(request.path_info)
        with request_origin.at(door, request.META.get("REMOTE_ADDR", "") if door in ADDRESSED else ""):
            return self._get_response(request)


def door_of(path: str) -> str:
    """Return the door that an address belongs to."""
    return next((door for prefix, door in DOORS.items() if path.startswith(prefix)), "web")

"""What we answer is kept by nobody: not by a browser, which shows it again after access ended, nor by a proxy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.http import HttpRequest
from django.http.response import HttpResponseBase

NO_STORE: Final = "no-store, private"


class Unkept:
    """Middleware: whatever says nothing else, refusals and sign-in pages too, is not to be stored. Static files are."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self._get_response(request)
        response.headers.setdefault("Cache-Control", NO_STORE)
        return response

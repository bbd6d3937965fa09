"""No one stores our responses: not a browser, which could show them after access ended, nor a proxy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.http import HttpRequest
from django.http.response import HttpResponseBase

NO_STORE: Final = "no-store, private"


class Unkept:
    """Middleware: mark responses as not to be stored unless they say otherwise, including refusals and sign-in pages.

    Static files are stored.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self._get_response(request)
        response.headers.setdefault("Cache-Control", NO_STORE)
        return response

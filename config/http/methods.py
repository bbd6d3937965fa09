"""How to answer requests with HTTP methods other than those that a view accepts."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase, HttpResponseNotAllowed, StreamingHttpResponse
from django.shortcuts import render


class HeadAsGet:
    """Middleware: answer HEAD like GET but without a body, as RFC 9110 (9.3.2) requires for every address.

    Monitors, link previews and ``curl -I`` use it. A streaming response ends before its first byte.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.method != "HEAD":
            return self._get_response(request)
        request.method = "GET"
        try:
            response = self._get_response(request)
        finally:
            request.method = "HEAD"
        if isinstance(response, StreamingHttpResponse):
            response.streaming_content = ()
        return response


class FormsOnly:
    """Middleware: a browser that is refused a method gets a page that says how to continue, instead of an empty one.

    It has opened an address that only accepts forms, for example after a refusal, or from a bookmark.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self._get_response(request)
        if not isinstance(response, HttpResponseNotAllowed) or not _is_opened(request):
            return response
        page = render(request, "405.html", status=response.status_code)
        page.headers["Allow"] = response.headers["Allow"]
        return page


def _is_opened(request: HttpRequest) -> bool:
    return request.method == "GET" and "text/html" in request.headers.get("Accept", "")

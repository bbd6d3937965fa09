"""The methods of HTTP that an address is asked by, other than those its view takes."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase, HttpResponseNotAllowed, StreamingHttpResponse
from django.shortcuts import render


class HeadAsGet:
    """Middleware: HEAD is answered as GET is, without its body, as RFC 9110 (9.3.2) asks of every address.

    Monitors ask with it, previews of links, and ``curl -I``. What would stream ends before its first byte.
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
    """Middleware: a browser that is refused a method gets a page that says how to go on, in place of nothing.

    It has opened an address that only takes forms, after a refusal, say, or by a bookmark of one.
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

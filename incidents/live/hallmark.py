"""Each response says that it is Firekind's, so that an open page can tell it from what a network put in its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

HEADER: Final = "Firekind"
MARK: Final = b"<!--firekind-->"  # in the body as well, because some networks remove headers they don't know
DOCTYPE: Final = b"<!doctype html>"


class Hallmark:
    """Middleware: mark every response with a header, and the HTML that browsers show with a comment at its beginning.

    `static/firekind/ours.js` looks for them. Files to save stay as they are.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self._get_response(request)
        response.headers[HEADER] = "1"
        if isinstance(response, HttpResponse) and _is_shown(response):
            response.content = marked(response.content)
            if "Content-Length" in response.headers:
                response.headers["Content-Length"] = str(len(response.content))
        return response


def marked(html: bytes) -> bytes:
    """Return HTML with our mark: a page after its doctype, a fragment at its beginning."""
    head = DOCTYPE if html.startswith(DOCTYPE) else b""
    return head + MARK + html[len(head) :]


def _is_shown(response: HttpResponse) -> bool:
    is_html = response.headers.get("Content-Type", "").startswith("text/html")
    return is_html and bool(response.content) and "Content-Disposition" not in response.headers

"""What everyone is answered while the database is away: what happened, and what to do by hand."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Final, TypeVar

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseServerError, JsonResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string

from incidents.outages import database_watch
from incidents.outages.runbook import RunbookFile

Unlogged = TypeVar("Unlogged", bound=HttpResponse)
AGAIN_S: Final = 15  # for programs, until they send it again
PAGE: Final = "outage.html"
DOORS: Final = ("/slack/", "/pagerduty/", "/tracker/", "/metrics")
PROGRAMS: Final = ("/api/", "/v1development/")
# What is answered without the database, or says itself how it is.
WITHOUT_IT: Final = ("/health", "/ready", "/slack/", "/metrics")
HAPPENED: Final = "Firekind's database isn't responding."
ENDED: Final = "Firekind's database cancelled what you asked for."
UNSURE: Final = (
    "What you just did may not have been recorded. Everything recorded before is safe: look here again in a minute "
    "before you repeat anything."
)
NOT_TAKEN: Final = "Firekind's database isn't responding, so this may not have been taken. Send it again."
ENDED_NOT_TAKEN: Final = "Firekind's database cancelled this, so it was not taken. Send it again."


class Outages:
    """Middleware: while the database is away, answer at once; nobody waits for it, and no thread is held."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if database_watch.is_away() and not request.path_info.startswith(WITHOUT_IT):
            return answer(request.path_info, request=request)
        return self._get_response(request)


def failed(request: HttpRequest) -> HttpResponse:
    """Answer a request that ended in an error (`handler500`), which may be that the database went away meanwhile."""
    error = sys.exc_info()[1]
    if database_watch.is_to_blame(error):
        return answer(request.path_info, error, request=request)
    return HttpResponseServerError(render_to_string("500.html", {"request": request}))


def answer(path: str, error: BaseException | None = None, *, request: HttpRequest | None = None) -> HttpResponse:
    """Answer whoever asks for an address: a page for people, a line or JSON for programs, who send it again.

    ``error`` is what their request ended in, where it had begun. Who sent a form gets its words back.
    """
    response: HttpResponse
    not_taken = ENDED_NOT_TAKEN if database_watch.has_ended(error) else NOT_TAKEN
    if path.startswith(DOORS):
        response = HttpResponse(f"{not_taken}\n", content_type="text/plain; charset=utf-8")
    elif path.startswith(PROGRAMS):
        response = JsonResponse({"error": "unavailable", "says": not_taken})
    else:
        words = {
            "happened": happened(error),
            "unsure": UNSURE,
            "by_hand": runbook().current().public,
            "request": request,
        }
        response = HttpResponse(render_to_string(PAGE, words))
    response.status_code = 503
    response["Retry-After"] = str(AGAIN_S)
    return unlogged(response)


def unlogged(response: Unlogged) -> Unlogged:
    """Keep Django from logging an answer as an error, with its path: the log tells of the outage, once."""
    response._has_been_logged = True  # type: ignore[attr-defined]  # noqa: SLF001
    return response


def happened(error: BaseException | None) -> str:
    """Return the sentence that says what a request ended in."""
    return ENDED if database_watch.has_ended(error) else HAPPENED


def in_slack(error: BaseException | None = None) -> str:
    """Return what somebody is told in Slack who asked for something, as plain text."""
    return f"{happened(error)} {UNSURE}\n\nMeanwhile, by hand:\n{runbook().current().text}"


@lru_cache(maxsize=1)
def runbook() -> RunbookFile:
    """Return the operator's runbook, one a process."""
    return RunbookFile(settings.FIREKIND.runbook_file)

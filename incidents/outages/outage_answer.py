"""The answer while the database is away: what happened, and what to do by hand."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final, TypeVar

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseServerError, JsonResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string

from incidents.outages import answer_time, database_watch, migrated, unserved
from incidents.outages.runbook import RunbookFile

log = logging.getLogger(__name__)
Unlogged = TypeVar("Unlogged", bound=HttpResponse)
FIND_OUT_S: Final = 0.8  # a caller that waited in vain for a connection has little time left
AGAIN_S: Final = 15  # after which programs send it again
DAMAGES: Final = ("XX001", "XX002")  # of data, of an index; whatever needs neither goes on
PAGE: Final = "outage.html"
DOORS: Final = ("/slack/", "/pagerduty/", "/tracker/", "/metrics")
PROGRAMS: Final = ("/api/", "/v1development/")
# Answered without the database, or able to report its absence themselves.
WITHOUT_IT: Final = ("/health", "/ready", "/slack/", "/metrics")
HAPPENED: Final = "Firekind's database isn't responding."
ENDED: Final = "Firekind's database cancelled your request."
SLOW: Final = "Firekind's database is too slow to answer within Slack's three seconds. The web app waits longer."
BUSY: Final = "Firekind is busy: everything of this kind waits for its database."
LATE: Final = "Firekind couldn't begin within Slack's three seconds, so nothing was done. Try again."
UNCHANGED: Final = "Firekind's database accepts no changes right now."
DAMAGED: Final = "Firekind's database could not read what this needs, because its data or an index is damaged."
NO_THREAD: Final = "Firekind's machine has no thread to spare, so Firekind could not connect to its database."
BEHIND: Final = "Firekind's database isn't ready for this version yet."
UNSURE: Final = (
    "What you just did may not have been recorded. Everything before it is safe. Check here again in a minute before "
    "you repeat it."
)
NOT_TAKEN: Final = "Firekind's database isn't responding, so this may not have been saved. Send it again."
BEHIND_NOT_TAKEN: Final = "Firekind's database isn't ready for this version yet, so this was not saved. Send it again."
ENDED_NOT_TAKEN: Final = "Firekind's database cancelled this, so it was not saved. Send it again."
UNCHANGED_NOT_TAKEN: Final = "Firekind's database accepts no changes right now, so this was not saved. Send it again."
DAMAGED_NOT_TAKEN: Final = "Firekind's database is damaged, so this was not saved. Send it again."
NO_THREAD_NOT_TAKEN: Final = "Firekind's machine has no thread to spare, so this was not saved. Send it again."
BUSY_NOT_TAKEN: Final = "Firekind is busy, so this may not have been saved. Send it again."
NOT_TAKENS: Final[Mapping[str, str]] = {
    ENDED: ENDED_NOT_TAKEN,
    BUSY: BUSY_NOT_TAKEN,
    BEHIND: BEHIND_NOT_TAKEN,
    UNCHANGED: UNCHANGED_NOT_TAKEN,
    DAMAGED: DAMAGED_NOT_TAKEN,
    NO_THREAD: NO_THREAD_NOT_TAKEN,
}


class Outages:
    """Middleware: while the database is away, answer immediately, so that no one waits for it and no thread is held."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if database_watch.is_away() and not request.path_info.startswith(WITHOUT_IT):
            return answer(request.path_info, request=request)
        return self._get_response(request)


def failed(request: HttpRequest) -> HttpResponse:
    """Answer a request that ended in an error (`handler500`), which may mean that the database went away."""
    error = sys.exc_info()[1]
    with answer_time.until(time.monotonic() + FIND_OUT_S):
        excuses = is_excuse(error)
    if excuses:
        return answer(request.path_info, error, request=request)
    return HttpResponseServerError(render_to_string("500.html", {"request": request}))


def is_excuse(error: BaseException | None) -> bool:
    """Return whether it is the database's fault: away, damaged, not migrated yet, or out of our reach."""
    if type(error) is RuntimeError:  # Python's for a thread that could not be started, among others
        return database_watch.renew_pool()
    return database_watch.is_to_blame(error) or _is_damaged(error) or migrated.is_missed_by(error)


def _is_damaged(error: BaseException | None) -> bool:
    """Return whether the server could not read what a statement needs on its disk, and log that."""
    if (state := database_watch.state_of(error)) not in DAMAGES:
        return False
    log.error("the database's data or an index is damaged (%s): its own log says which", state)
    return True


def answer(path: str, error: BaseException | None = None, *, request: HttpRequest | None = None) -> HttpResponse:
    """Answer a request for an address: a page for people, a line or JSON for programs, which send it again.

    ``error`` is what the request ended in, if it had begun. People who sent a form get their text back.
    """
    response: HttpResponse
    not_taken = NOT_TAKENS.get(happened(error), NOT_TAKEN)
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
    """Keep Django from logging a response as an error with its path: the outage itself is logged, once."""
    response._has_been_logged = True  # type: ignore[attr-defined]  # noqa: SLF001
    return response


def happened(error: BaseException | None) -> str:
    """Return the sentence that says what a request ended in."""
    state = database_watch.state_of(error)
    found = {
        NO_THREAD: type(error) is RuntimeError,
        SLOW: unserved.was_too_slow(error),
        BUSY: unserved.was_crowded(error) and not database_watch.is_away(),
        BEHIND: state in migrated.NOT_THERE,
        UNCHANGED: database_watch.takes_no_changes(error),
        DAMAGED: state in DAMAGES,
        ENDED: database_watch.has_ended(error),
    }
    return next((says for says, is_so in found.items() if is_so), HAPPENED)


def in_slack(error: BaseException | None = None) -> str:
    """Return the plain text for someone in Slack whose request could not be handled."""
    return f"{happened(error)} {UNSURE}\n\n{_by_hand()}"


def too_late_in_slack() -> str:
    """Return the plain text for someone in Slack whose request is begun too late to be answered."""
    return f"{LATE}\n\n{_by_hand()}"


def _by_hand() -> str:
    return f"Meanwhile, by hand:\n{runbook().current().text}"


@lru_cache(maxsize=1)
def runbook() -> RunbookFile:
    """Return the operator's runbook, cached for each process."""
    return RunbookFile(settings.FIREKIND.runbook_file)

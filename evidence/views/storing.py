"""The response to requests that need evidence storage while it cannot be used."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string

from evidence.intake.storage import StorageError
from incidents.outages import outage_answer

log = logging.getLogger(__name__)
PAGE: Final = "evidence/no_storage.html"
RETRY_S: Final = 15
NOT_KEPT: Final = "What you sent was not saved. Send it again in a minute. The rest of the incident still works."
NOT_SHOWN: Final = "Try again in a minute. The rest of the incident still works."
LASTING: Final = "If this continues, ask the person who runs Firekind to run manage.py doctor."


class StorageOutages:
    """Middleware: a request that needs evidence storage while it cannot be used gets an explanation."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self._get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Respond to an error of the storage."""
        if not isinstance(exception, StorageError):
            return None
        log.warning("a request could not be answered: %s", exception)
        return answer(request, exception)


def answer(request: HttpRequest, error: StorageError) -> HttpResponse:
    """Respond with a page for people, or JSON for scripts and programs, which retry."""
    says = f"{error.says} {NOT_KEPT if request.method == 'POST' else NOT_SHOWN} {LASTING}"
    response: HttpResponse
    if request.path_info.startswith(outage_answer.PROGRAMS):
        response = JsonResponse({"error": "storage_unavailable", "says": says})
    elif request.path_info.endswith(".json") or request.headers.get("Accept", "").startswith("application/json"):
        response = JsonResponse({"says": says})
    else:
        response = HttpResponse(render_to_string(PAGE, {"says": says}))
    response.status_code = 503
    response["Retry-After"] = str(RETRY_S)
    response["Cache-Control"] = "no-store"
    return outage_answer.unlogged(response)

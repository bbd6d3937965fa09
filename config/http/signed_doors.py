"""The doors where vendors send what they sign: a request passes only the middleware that concerns one of those.

Nobody is signed in there and no browser shows the answer, so sessions, forms and pages have no part in it. They took
half of what an event of Slack's costs that leads to nothing, and a declaration brings about twenty events.
"""

from __future__ import annotations

from typing import Any, Final

from django.conf import settings
from django.core.handlers.base import BaseHandler
from django.core.handlers.exception import convert_exception_to_response
from django.http import HttpRequest
from django.utils.module_loading import import_string

ADDRESSES: Final = frozenset({"/slack/events", "/pagerduty/webhook", "/tracker/webhook"})


class SignedDoors(BaseHandler):
    """Django's handler with the middleware of ``settings.SIGNED_MIDDLEWARE``, which wraps a request and no more.

    Middleware that looks into views or answers their errors (``process_view`` and the like) is not taken there.
    """

    def __init__(self) -> None:
        super().__init__()
        self.load_middleware()

    def load_middleware(self, is_async: bool = False) -> None:
        """Chain the middleware for a thread. Raises ``TypeError`` for one that does more than wrap."""
        self._view_middleware: list[Any] = []
        self._template_response_middleware: list[Any] = []
        self._exception_middleware: list[Any] = []
        view = self._get_response  # type: ignore[attr-defined]  # django-stubs leaves it out
        answer = convert_exception_to_response(view)
        for name in reversed(settings.SIGNED_MIDDLEWARE):
            made = import_string(name)(answer)
            if any(hasattr(made, hook) for hook in ("process_view", "process_template_response", "process_exception")):
                raise TypeError(f"{name} does more than wrap a request")
            answer = convert_exception_to_response(made)
        self._middleware_chain = answer


def is_for(request: HttpRequest) -> bool:
    """Tell whether a vendor may have sent it. Whoever opens such an address gets a page that says so instead."""
    return request.method == "POST" and request.path_info in ADDRESSES

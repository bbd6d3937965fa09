"""The doors for requests that vendors sign: they pass only through the middleware that concerns them.

No one is signed in there and no browser shows the response, so sessions, forms and pages play no part. Those took half
the cost of a Slack event that leads to nothing, and a declaration causes about twenty events.
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
    """Django's handler with the middleware of ``settings.SIGNED_MIDDLEWARE``, which may only wrap a request.

    Middleware that inspects views or answers their errors (``process_view`` and so on) is rejected.
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
    """Return whether a vendor could have sent this. A person who opens the URL gets an explanation page instead."""
    return request.method == "POST" and request.path_info in ADDRESSES

"""Record when a session started and was last used; its expiry is computed from that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from integrations.identity import sessions, tries

EVERY_S: Final = 300  # precision of the last use: storing it with every request would add a write to each
BROWSERS: Final = ("Edg", "OPR", "Firefox", "Chrome", "Safari", "curl")
NAMES: Final = {"Edg": "Edge", "OPR": "Opera", "curl": "a terminal"}
SYSTEMS: Final = {"Android": "Android", "iPhone": "iPhone", "iPad": "iPad", "Windows": "Windows", "Mac OS X": "macOS"}


class Visiting:
    """Record every few minutes that a session is in use; polling does not count as use."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not _asks_by_itself(request):
            self._touch(request)
        return self._get_response(request)

    def _touch(self, request: HttpRequest) -> None:
        session: Any = request.session
        if SESSION_KEY not in session:
            return
        now = sessions.now().timestamp()
        if abs(now - session.get(sessions.SEEN, 0)) > EVERY_S:
            session[sessions.SEEN] = now
            session.setdefault(sessions.BEGAN, session[sessions.SEEN])


def _asks_by_itself(request: HttpRequest) -> bool:
    """Return whether a page sends this by itself, as a poll or a stream, so that no one may be looking at it."""
    headers = request.headers
    return request.method == "GET" and ("HX-Request" in headers or "event-stream" in headers.get("Accept", ""))


@receiver(user_logged_in)
def _begin(request: HttpRequest | None, **_: Any) -> None:
    """Record in a new session when and where it began."""
    if request is None:
        return
    now = sessions.now().timestamp()
    session: Any = request.session
    session[sessions.BEGAN] = session[sessions.SEEN] = now
    session[sessions.BROWSER] = browser(request.headers.get("User-Agent", ""))
    session[sessions.PLACE] = request.META.get("REMOTE_ADDR", "")[:45]
    sessions.forget_ended()
    tries.forget_old()


def browser(agent: str) -> str:
    """Describe a browser in words its owner recognises: `Firefox on Windows`."""
    found = next((name for name in BROWSERS if f"{name}/" in agent), "")
    system = next((word for sign, word in SYSTEMS.items() if sign in agent), "Linux" if "Linux" in agent else "")
    name = NAMES.get(found, found) or "a browser"
    return f"{name} on {system}" if system else name

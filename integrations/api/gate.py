"""Check a request before its body is read: the size limit, and whether its sender may send anything at all."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.views import redirect_to_login
from django.http import HttpResponse, parse_cookie
from django.urls import is_valid_path

from integrations.api import answers, asking, otlp
from integrations.identity.sessions import SessionStore

REST, OTLP = "/api/", "/v1development/"
DESCRIPTION: Final = "/api/v1/openapi.json"  # the API's own, open to anyone
FORM: Final = re.compile(r"/incidents/[^/]+/evidence/add")  # where a page sends dropped files
SENT: Final = re.compile(r"/api/v1/incidents/[^/]+/evidence/?|/v1development/profiles")  # where programs send files
NOTHING_SENT: Final = ("/health", "/ready", settings.STATIC_URL)
MIB: Final = 1 << 20
MARGIN: Final = 64 * 1024  # for the form around the file
ORDINARY: Final = MIB + MARGIN  # Django's form limit is 1 MiB, and Slack's and PagerDuty's doors take no more
RETRY_S: Final = 5


class Refusal(NamedTuple):
    """Why a body is refused: the status, a code for programs, and words for people."""

    status: int
    error: str
    says: str


TOO_LARGE: Final = Refusal(413, "too_large", "The request is too large.")
NO_BODY: Final = Refusal(413, "no_body", "This address takes no body.")
TOO_SLOW: Final = Refusal(408, "too_slow", "The request took too long to arrive.")
NO_ROOM: Final = Refusal(503, "busy", "Too many requests are arriving at once. Try again.")
DISK_FULL: Final = Refusal(
    503,
    "disk_full",
    "The server's disk for files on their way in is full, so this was not taken. Send it again once there is "
    "room; manage.py doctor says how much is left.",
)


def concerns(path: str) -> bool:
    """Return whether files are sent to this path."""
    return path.startswith((REST, OTLP)) or FORM.fullmatch(path) is not None


def most(path: str, method: str) -> int:
    """Return how many bytes a body sent to this path may have; zero where no body is expected."""
    if method != "POST" or path.startswith(NOTHING_SENT):
        return 0
    if concerns(path):
        return _of_a_file(path)
    return ORDINARY if _is_address(path, settings.ROOT_URLCONF) else 0


@lru_cache(maxsize=64)  # vendors use the same few paths again and again, and Django tries each URL pattern in turn
def _is_address(path: str, of: str) -> bool:
    return bool(is_valid_path(path, of))


def largest() -> int:
    """Return how many bytes the largest allowed body may have."""
    return max(otlp.MOST, _evidence())


def _of_a_file(path: str) -> int:
    if not (SENT.fullmatch(path) or FORM.fullmatch(path)):
        return 0
    return otlp.MOST if path.startswith(OTLP) else _evidence()


def _evidence() -> int:
    return int(settings.FIREKIND.evidence_max_mib * MIB) + MARGIN


def check(path: str, *, authorization: str, cookie: str) -> HttpResponse | None:
    """Refuse senders without permission before anything is stored.

    Returns None for all other requests; the view then checks further.
    """
    if path == DESCRIPTION:
        return None
    if FORM.fullmatch(path):
        return None if _is_signed_in(cookie) else redirect_to_login("/")
    if asking.token_of(authorization) is not None:
        return None
    return otlp.answer(401, "Send a valid token.") if path.startswith(OTLP) else answers.unknown_token()


def _is_signed_in(cookie: str) -> bool:
    key = parse_cookie(cookie).get(settings.SESSION_COOKIE_NAME)
    return bool(key) and SESSION_KEY in SessionStore(key)


def refused(path: str, method: str, why: Refusal) -> HttpResponse:
    """Return the refusal of a body in the format that its path uses."""
    if why is TOO_LARGE and not most(path, method):
        why = NO_BODY
    elif why is TOO_LARGE and concerns(path):
        return otlp.answer(413, otlp.TOO_LARGE) if path.startswith(OTLP) else answers.too_large()
    response = _said(path, why)
    if why in {NO_ROOM, DISK_FULL}:
        response["Retry-After"] = str(RETRY_S)
    return response


def _said(path: str, why: Refusal) -> HttpResponse:
    if path.startswith(OTLP):
        return otlp.answer(why.status, why.says)
    if concerns(path):
        return answers.refused(*why)
    return HttpResponse(f"{why.says}\n", status=why.status, content_type="text/plain")

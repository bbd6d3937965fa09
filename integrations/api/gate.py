"""Before a body is read: its size limit, and whether its sender may send anything at all."""

from __future__ import annotations

import re
from typing import Final

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.views import redirect_to_login
from django.http import HttpResponse, parse_cookie

from integrations.api import answers, asking, otlp
from integrations.identity.sessions import SessionStore

REST, OTLP = "/api/", "/v1development/"
DESCRIPTION: Final = "/api/v1/openapi.json"  # of the API itself, for anyone
FORM: Final = re.compile(r"/incidents/[^/]+/evidence/add")  # where a page sends the files that are dropped on it
MIB: Final = 1 << 20
MARGIN: Final = 64 * 1024  # of a form around its file
ORDINARY: Final = 4 * MIB


def concerns(path: str) -> bool:
    """Return whether an address is one to which files are sent."""
    return path.startswith((REST, OTLP)) or FORM.fullmatch(path) is not None


def most(path: str) -> int:
    """Return how many bytes a body sent to an address may have."""
    if path.startswith(OTLP):
        return otlp.MOST
    if concerns(path):
        return int(settings.FIREKIND.evidence_max_mib * MIB) + MARGIN
    return ORDINARY


def check(path: str, *, authorization: str, cookie: str) -> HttpResponse | None:
    """Refuse those who may not send before anything is stored; return None for everyone else, and the view decides."""
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


def too_large(path: str) -> HttpResponse:
    """Say that a body is larger than what is taken."""
    if path.startswith(OTLP):
        return otlp.answer(413, otlp.TOO_LARGE)
    if concerns(path):
        return answers.too_large()
    return HttpResponse("The request is too large.\n", status=413, content_type="text/plain")

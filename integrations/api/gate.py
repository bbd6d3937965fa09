"""Before a body is taken in: how much of it there may be, and whether its sender may send anything at all."""

from __future__ import annotations

import re
from typing import Final

from django.conf import settings
from django.http import HttpResponse

from integrations.api import answers, asking, otlp

REST, OTLP = "/api/", "/v1development/"
FORM: Final = re.compile(r"/incidents/[^/]+/evidence(/|$)")  # the page on which files are dropped
MIB: Final = 1 << 20
MARGIN: Final = 64 * 1024  # of a form around its file
ORDINARY: Final = 4 * MIB


def concerns(path: str) -> bool:
    """Tell whether an address is one to which programs send."""
    return path.startswith((REST, OTLP))


def most(path: str) -> int:
    """Return how many bytes a body sent to an address may have."""
    if path.startswith(OTLP):
        return otlp.MOST
    if path.startswith(REST) or FORM.match(path):
        return int(settings.FIREKIND.evidence_max_mib * MIB) + MARGIN
    return ORDINARY


def check(path: str, authorization: str) -> HttpResponse | None:
    """Refuse who may not send, before anything of theirs is kept; None for everybody else."""
    if asking.token_of(authorization) is not None:
        return None
    return otlp.answer(401, "Send a token that works.") if path.startswith(OTLP) else answers.unknown_token()


def too_large(path: str) -> HttpResponse:
    """Say that a body is larger than what is taken."""
    if path.startswith(OTLP):
        return otlp.answer(413, otlp.TOO_LARGE)
    if concerns(path) or FORM.match(path):
        return answers.too_large()
    return HttpResponse("This is larger than anything that is sent here.\n", status=413, content_type="text/plain")

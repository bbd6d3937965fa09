"""Text from a form that was not accepted: it goes back to the browser that sent it, and nowhere else."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import BadRequest, SuspiciousOperation
from django.http import HttpRequest

ZONE: Final = f"{settings.COOKIE_PREFIX}zone"  # our first script stores the browser's time zone in it
# The fields that take sentences. Choices are quickly made again, and secrets are never shown.
NAMES: Final = (
    "title",
    "summary",
    "text",
    "impact",
    "next_step",
    "because",
    "claim",
    "comment",
    "says",
    "services",
    "pages",
    "roles",
    "checklist",
    "link",
)


def lost(request: HttpRequest) -> list[str]:
    """Return the text of a form of ours that the response would otherwise lose, field by field.

    A browser that runs scripts has kept it itself (`sending.js`). Forms with files are not read.
    """
    if (
        request.method != "POST"
        or request.content_type != "application/x-www-form-urlencoded"
        or ZONE in request.COOKIES
    ):
        return []
    try:
        return _written(request) if _is_ours(request) else []
    except (SuspiciousOperation, BadRequest, OSError):  # too large, cut off, in another encoding, or for another host
        return []


def _is_ours(request: HttpRequest) -> bool:
    sent_from = request.headers.get("Origin") or request.headers.get("Referer", "")
    return urlsplit(sent_from).netloc == request.get_host()


def _written(request: HttpRequest) -> list[str]:
    return [text for name in NAMES for one in request.POST.getlist(name) if (text := one.strip())]

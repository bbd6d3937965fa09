"""Browsers that have signed in before get their own count of attempts."""

from __future__ import annotations

import secrets

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.core import signing
from django.http import HttpRequest, HttpResponse

COOKIE, SALT = f"{settings.COOKIE_PREFIX}browser", "integrations.identity.browsers"
KEPT_S = 90 * 24 * 3600


def known(request: HttpRequest, name: str) -> str:
    """Return the key of a browser in which this account has signed in before; empty for any other browser."""
    try:
        who, which = signing.loads(request.COOKIES.get(COOKIE, ""), salt=SALT, max_age=KEPT_S)
    except (signing.BadSignature, ValueError, TypeError):
        return ""
    return str(which) if who == name.lower() else ""


def remember(response: HttpResponse, user: AbstractBaseUser) -> None:
    """Remember a browser as one in which this account has signed in."""
    value = signing.dumps([user.get_username().lower(), secrets.token_urlsafe(12)], salt=SALT)
    response.set_cookie(
        COOKIE,
        value,
        max_age=KEPT_S,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )

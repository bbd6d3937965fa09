"""Requests that follow no redirect: what is sent along, such as a key, is only for the configured address."""

from __future__ import annotations

import urllib.request
from typing import Any, Final
from urllib.error import HTTPError

MOVED: Final = range(300, 400)


class Straight(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: one ends in `HTTPError`, like any other refusal."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Refuse the redirect."""


def why(error: Exception, *, setting: str) -> str:
    """Say briefly why a request failed, and which setting to change after a redirect; quotes nothing."""
    if isinstance(error, HTTPError) and error.code in MOVED:
        return f"it redirects, and nothing is sent elsewhere: put the address it names into {setting}"
    return type(error).__name__

"""Requests that nobody leads elsewhere: what is sent along, such as a key, is for the one address that was set."""

from __future__ import annotations

import urllib.request
from typing import Any, Final
from urllib.error import HTTPError

MOVED: Final = range(300, 400)


class Straight(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: it ends in `HTTPError`, as any other refusal does."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Follow nobody elsewhere."""


def why(error: Exception, *, setting: str) -> str:
    """Say in a few words why a request came to nothing, and which setting names another address; quotes nothing."""
    if isinstance(error, HTTPError) and error.code in MOVED:
        return f"it redirects, and nothing is sent elsewhere: put the address it names into {setting}"
    return type(error).__name__

"""Requests to the doors for people and tests: JSON in, an error in words if it is wrong."""

from __future__ import annotations

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response


class Bad(Exception):
    """The request itself is wrong: not JSON, or something is missing."""


async def body(request: Request) -> dict[str, Any]:
    """Return the JSON object that was sent. Raises Bad."""
    # Only our own page can send JSON; a form on a foreign page cannot, so it cannot act here.
    if not request.headers.get("content-type", "").startswith("application/json"):
        raise Bad("send Content-Type: application/json")
    try:
        given = json.loads(await request.body() or b"{}")
    except ValueError:
        raise Bad("the body is not JSON") from None
    if not isinstance(given, dict):
        raise Bad("the body is not an object")
    return given


async def refused(request: Request, problem: Exception) -> Response:
    """Say what is wrong with a request."""
    return JSONResponse({"ok": False, "error": str(problem)}, 400)

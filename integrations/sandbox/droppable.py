"""Connections that can be dropped, as networks do."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

_KEY = "firekind.connection"


class Droppable:
    """Outermost layer: remembers each request's connection.

    ASGI has no message for dropping a connection. In each of uvicorn's HTTP implementations, `send` is a method of the
    object that owns the connection.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request."""
        scope[_KEY] = getattr(getattr(send, "__self__", None), "transport", None)
        await self.app(scope, receive, send)


async def hang_up(request: Request) -> None:
    """Close a request's connection without an answer. Raises ConnectionAbortedError where that is impossible."""
    transport = request.scope.get(_KEY)
    if transport is None:
        raise ConnectionAbortedError
    transport.close()
    await asyncio.sleep(0.01)

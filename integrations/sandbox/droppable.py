"""Connections that can be hung up on, as networks do."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

_KEY = "firekind.connection"


class Droppable:
    """Outermost layer: remembers which connection a request came by.

    ASGI has no word for hanging up. uvicorn's `send` is a method of the object that owns the connection, for each of
    its HTTP implementations.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        scope[_KEY] = getattr(getattr(send, "__self__", None), "transport", None)
        await self.app(scope, receive, send)


async def hang_up(request: Request) -> None:
    """Close the connection of a request without a word. Raises ConnectionAbortedError where that cannot be done."""
    transport = request.scope.get(_KEY)
    if transport is None:
        raise ConnectionAbortedError
    transport.close()
    await asyncio.sleep(0.01)

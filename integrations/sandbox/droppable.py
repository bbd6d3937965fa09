"""An HTTP server whose connections can be hung up on, as networks do."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.requests import Request
from uvicorn.protocols.http.h11_impl import H11Protocol

_open: dict[tuple[str, int], asyncio.Transport] = {}


class DroppableProtocol(H11Protocol):
    """uvicorn's own protocol that remembers its connections by the caller's address and port."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # narrower, as upstream
        """Remember the connection."""
        super().connection_made(transport)
        if self.client:
            _open[self.client] = transport

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        if self.client:
            _open.pop(self.client, None)
        super().connection_lost(exc)


async def hang_up(request: Request) -> None:
    """Close the connection of a request without a word."""
    client: Any = request.scope.get("client")
    transport = _open.get((client[0], client[1])) if client else None
    if transport:
        transport.close()
        await asyncio.sleep(0.01)

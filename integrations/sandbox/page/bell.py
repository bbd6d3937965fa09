"""Tell open pages that what they show has changed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from starlette.responses import Response, StreamingResponse

from integrations.sandbox.keeping import Versioned

BEAT_S: Final = 20
BREATH_S: Final = 0.15


class Bell:
    """Wakes every open page when what it shows changes."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Event] = set()

    def ring(self) -> None:
        """Wake the pages. Call it from the event loop's thread."""
        for event in self._waiting:
            event.set()

    async def rings(self, shown: Versioned) -> AsyncIterator[str]:
        """Yield a server-sent event for each change, and a comment now and then to keep the connection open."""
        event = asyncio.Event()
        self._waiting.add(event)
        try:
            yield f"retry: 1000\ndata: {shown.version}\n\n"
            while True:
                try:
                    await asyncio.wait_for(event.wait(), BEAT_S)
                except TimeoutError:
                    yield ": still here\n\n"
                    continue
                await asyncio.sleep(BREATH_S)
                event.clear()
                yield f"data: {shown.version}\n\n"
        finally:
            self._waiting.discard(event)

    def stream(self, shown: Versioned) -> Response:
        """Return a stream that announces each change; the page fetches what changed."""
        return StreamingResponse(
            self.rings(shown), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
        )

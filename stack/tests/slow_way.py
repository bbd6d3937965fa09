"""A slow connection to a server: a socket in front of the server's own."""

from __future__ import annotations

import asyncio
import threading
from contextlib import closing, suppress
from pathlib import Path

PIECE = 1 << 16


class SlowWay:
    """Delays each piece sent to the server by ``held_s``, so each statement takes slightly longer than that."""

    def __init__(self, door: Path, server: Path) -> None:
        self.held_s = 0.0
        self._door, self._server = door, server
        self._loop = asyncio.new_event_loop()
        self._open, self._over = threading.Event(), asyncio.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._open.wait(30)

    def close(self) -> None:
        """Stop forwarding."""
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        async with await asyncio.start_unix_server(self._lead, self._door):
            self._open.set()
            await self._over.wait()

    async def _lead(self, come: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        answers, on = await asyncio.open_unix_connection(self._server)
        with closing(back), closing(on):
            passing = [self._pass_on(come, on, is_held=True), self._pass_on(answers, back, is_held=False)]
            await asyncio.wait([asyncio.ensure_future(one) for one in passing], return_when=asyncio.FIRST_COMPLETED)

    async def _pass_on(self, come: asyncio.StreamReader, on: asyncio.StreamWriter, *, is_held: bool) -> None:
        with suppress(ConnectionError):
            while piece := await come.read(PIECE):
                await asyncio.sleep(self.held_s if is_held else 0)
                on.write(piece)
                await on.drain()

"""A balancer in front of several web processes: each connection goes to the next active one."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from socket import socket
from typing import Final

from stack.processes.ports import LOOPBACK

PIECE: Final = 64 * 1024


class Balancer:
    """Accepts connections at a door and passes them on in turn; removed targets keep the connections they have."""

    def __init__(self, door: socket) -> None:
        self.taken: Counter[int] = Counter()  # connections, by the port they went to
        self._ports: Sequence[int] = ()
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="balancer", daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(door), self._loop).result()

    def send_to(self, *ports: int) -> None:
        """Send new connections to these ports from now on."""
        self._ports = ports

    def close(self) -> None:
        """Accept no more, and close what is open."""
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _listen(self, door: socket) -> None:
        self._server = await asyncio.start_server(self._taken, sock=door.dup())

    async def _end(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _taken(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._pass_on(reader, writer)
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Relay both ways until the process behind has ended its side; one that does not listen is skipped."""
        ports = self._ports
        first = self.taken.total()
        for n in range(len(ports)):
            port = ports[(first + n) % len(ports)]
            try:
                there, back = await asyncio.open_connection(LOOPBACK, port)
            except OSError:
                continue
            self.taken[port] += 1
            forth = asyncio.ensure_future(_carry(reader, back))
            try:
                await _carry(there, writer)
            finally:
                forth.cancel()
                back.close()
            return


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):  # either side may close at any time
        while piece := await reader.read(PIECE):
            writer.write(piece)
            await writer.drain()
        writer.write_eof()

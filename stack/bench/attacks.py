"""One attack on a local web process, until stdin ends.

It runs in a process of its own, so that the cost of attacking slows down no one who measures.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final

from config.http.connections import raise_file_limit
from stack.processes.ports import LOOPBACK

CONNECTIONS, SLOW = 1_200, 300
LARGE: Final = "/static/vendor/speedscope/speedscope-Y2522XSH.js"
PIECE: Final = b"a" * (1 << 16)
AGAIN_S: Final = 0.1
Attack = Callable[[int, asyncio.Event], Coroutine[Any, Any, None]]


async def _idle(port: int, over: asyncio.Event) -> None:
    """Hold as many connections as possible, and send nothing."""
    await _held(port, over, count=CONNECTIONS, begin=b"", again=b"")


async def _slow_headers(port: int, over: asyncio.Event) -> None:
    """Send requests whose headers trickle."""
    await _held(port, over, count=CONNECTIONS, begin=b"GET / HTTP/1.1\r\nhost: x\r\nx: ", again=b"a")


async def _slow_bodies(port: int, over: asyncio.Event) -> None:
    """Send bodies that trickle."""
    begin = b"POST /sign-in/ HTTP/1.1\r\nhost: x\r\ncontent-length: 900000\r\n\r\n" + PIECE[:1000]
    await _held(port, over, count=SLOW, begin=begin, again=b"a")


async def _endless_header(port: int, over: asyncio.Event) -> None:
    """Send headers that never end, as fast as they are accepted."""
    await _poured(port, over, begin=b"GET /health HTTP/1.1\r\nhost: x\r\nx: ", count=2)


async def _bodies_nowhere(port: int, over: asyncio.Event) -> None:
    """Send large bodies to URLs that accept none."""
    begin = b"POST /api/v1/openapi.json HTTP/1.1\r\nhost: x\r\ncontent-length: 209715200\r\n\r\n"
    await _poured(port, over, begin=begin, count=2)


async def _slow_readers(port: int, over: asyncio.Event) -> None:
    """Request large files and read nothing."""
    await _held(port, over, count=SLOW, begin=f"GET {LARGE} HTTP/1.1\r\nhost: {LOOPBACK}\r\n\r\n".encode(), again=b"")


ATTACKS: Final = {
    f"{CONNECTIONS:,} idle connections": _idle,
    f"{CONNECTIONS:,} headers that trickle": _slow_headers,
    f"{SLOW} bodies that trickle": _slow_bodies,
    "headers without an end": _endless_header,
    "200 MiB to an address without a body": _bodies_nowhere,
    f"{SLOW} readers who read nothing": _slow_readers,
}


def main() -> None:
    """Run the attack given by its name and the port."""
    name, port = sys.argv[1:]
    raise_file_limit()
    asyncio.run(_until_told(ATTACKS[name], int(port)))


async def _until_told(attack: Attack, port: int) -> None:
    over = asyncio.Event()
    going = asyncio.create_task(attack(port, over))
    await asyncio.to_thread(sys.stdin.read)
    over.set()
    await going


async def _held(port: int, over: asyncio.Event, *, count: int, begin: bytes, again: bytes) -> None:
    """Hold connections and send a byte on each now and then; closed ones are reopened, gently."""

    async def one() -> None:
        while not over.is_set():
            with suppress(OSError):
                _, writer = await asyncio.open_connection(LOOPBACK, port)
                try:
                    writer.write(begin)
                    while not over.is_set() and not writer.is_closing():
                        await _pause(over)
                        writer.write(again)
                finally:
                    writer.transport.abort()
            await _pause(over)

    await asyncio.gather(*(one() for _ in range(count)))


async def _poured(port: int, over: asyncio.Event, *, begin: bytes, count: int) -> None:
    """Send on a few connections as much as is accepted; reconnect a moment after a hang-up."""

    async def one() -> None:
        while not over.is_set():
            with suppress(OSError):
                _, writer = await asyncio.open_connection(LOOPBACK, port)
                try:
                    writer.write(begin)
                    while not over.is_set() and not writer.is_closing():
                        writer.write(PIECE)
                        await writer.drain()
                finally:
                    writer.transport.abort()
            await asyncio.sleep(AGAIN_S)

    await asyncio.gather(*(one() for _ in range(count)))


async def _pause(over: asyncio.Event) -> None:
    """Wait a little, but no longer than the attack lasts."""
    with suppress(TimeoutError):
        await asyncio.wait_for(over.wait(), AGAIN_S * 10 * random.uniform(0.5, 1.5))  # noqa: S311 (spread, no secret)

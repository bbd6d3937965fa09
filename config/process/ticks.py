"""uvicorn wakes ten times a second to see whether to stop; here it does so twice, so that an idle process sleeps."""

from __future__ import annotations

import asyncio
from typing import Final

from uvicorn.server import Server

TICK_S: Final = 0.5  # stopping may take this much longer, and the Date header may be this old
NOW: Final = 0  # the tick count at which uvicorn does everything that a tick ever does


def tick_rarely() -> None:
    """Have this process's server tick every ``TICK_S``."""
    setattr(Server, "main_loop", _main_loop)  # noqa: B010  # a plain assignment is what mypy takes for a mistake


async def _main_loop(server: Server) -> None:
    while not await server.on_tick(NOW):  # noqa: ASYNC110  # a signal's handler sets what this looks at, and no event
        await asyncio.sleep(TICK_S)

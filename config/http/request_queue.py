"""Request priority: overdue commands, then pages, commands, and events that no one is waiting for.

Slack gives commands three seconds; a person at a page notices a tenth of one. And a declaration causes some twenty
events (who joined, what was posted) while the next person's command arrives.
"""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

LEARNING = 0.1


class Crowd:
    """The requests that are being served right now, in one event loop."""

    def __init__(self) -> None:
        self._count = 0
        self.there, self.gone = asyncio.Event(), asyncio.Event()
        self.gone.set()

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count one more while the block runs."""
        self._come()
        try:
            yield
        finally:
            self._leave()

    @contextmanager
    def one_after(self, seconds: float) -> Iterator[None]:
        """Count one more after this many seconds, if the block is still running."""
        counted: list[bool] = []

        def come() -> None:
            counted.append(True)
            self._come()

        waiting = asyncio.get_running_loop().call_later(seconds, come)
        try:
            yield
        finally:
            waiting.cancel()
            if counted:
                self._leave()

    async def give_way(self, *, patience_s: float) -> None:
        """Wait until no one is left, or until patience runs out."""
        if not self.gone.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self.gone.wait(), patience_s)

    def _come(self) -> None:
        self._count += 1
        self.there.set()
        self.gone.clear()

    def _leave(self) -> None:
        self._count -= 1
        if not self._count:
            self.there.clear()
            self.gone.set()


class RequestQueue:
    """First come, first served; gives way to a crowd except for a ``share`` of this process's CPU time.

    No request in it waits longer than ``patience_s``, whatever the share.
    """

    def __init__(self, *, after: Crowd, share: float, patience_s: float) -> None:
        self._after = after
        self._share = share
        self._patience_s = patience_s
        self._line = asyncio.Lock()
        self._free_at = 0.0
        self._takes_s = 0.002

    async def wait(self) -> None:
        """Wait for a turn: not at all if there is no crowd, else until this queue is within its share."""
        gives_up_at = time.monotonic() + self._patience_s
        async with self._line:
            wait_s = min(self._free_at, gives_up_at) - time.monotonic()
            if wait_s > 0:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._after.gone.wait(), wait_s)
            now = time.monotonic()
            self._free_at = min(max(self._free_at, now) + self._takes_s / self._share, now + self._patience_s)

    def took(self, seconds: float) -> None:
        """Learn how much CPU time one turn takes."""
        self._takes_s += (seconds - self._takes_s) * LEARNING

"""Background work in order: items in one lane run one after the other, several lanes at once."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress

Work = Callable[[], Awaitable[None]]


class Lanes:
    """Runs work lane by lane. `gate` protects the part that loads others: at most `at_once` items hold it."""

    def __init__(self, *, at_once: int) -> None:
        self.gate = asyncio.Semaphore(at_once)
        self._queues: dict[str, deque[Work]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._busy = 0
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._hurry = asyncio.Event()

    @property
    def unfinished(self) -> int:
        """How many lanes have work left, including resting ones."""
        return len(self._queues)

    def hurry(self) -> None:
        """End every rest now."""
        self._hurry.set()
        self._hurry = asyncio.Event()

    def put(self, lane: str, work: Work) -> None:
        """Run an item after everything that was put into its lane before."""
        if lane in self._queues:
            self._queues[lane].append(work)
            return
        self._queues[lane] = deque([work])
        self._enter()
        task = asyncio.get_running_loop().create_task(self._drain(lane))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def rest(self, wait_s: float) -> None:
        """Block your own lane for a while; a resting lane does not count as busy."""
        self._leave()
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._hurry.wait()
        finally:
            self._enter()

    async def idle(self, timeout_s: float) -> bool:
        """Wait until nothing is in progress; return whether that happened in time."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._quiet.wait()
        except TimeoutError:
            return False
        return True

    async def close(self) -> None:
        """Cancel all unfinished work."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _drain(self, lane: str) -> None:
        queue = self._queues[lane]
        try:
            while queue:
                await queue.popleft()()
        finally:
            del self._queues[lane]
            self._leave()

    def _enter(self) -> None:
        self._busy += 1
        self._quiet.clear()

    def _leave(self) -> None:
        self._busy -= 1
        if not self._busy:
            self._quiet.set()

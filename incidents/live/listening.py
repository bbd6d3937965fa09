"""One database connection per process listens for changes and notifies every stream."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import sql

from incidents import timeline
from incidents.outages import database_watch

log = logging.getLogger(__name__)
WAITS_S = (0.5, 1.0, 2.0)
BEAT_S = 15.0
LOOK = -1  # in place of an event number: nothing is known to be new, but check that you may still read this
LISTENER = {"application_name": "firekind live", "connect_timeout": 5}
Heard = asyncio.Queue[int]


class HeardOfSeveral:
    """Which of several incidents had news since the last call; LOOK if the reader should only check its access."""

    def __init__(self) -> None:
        self._heard: set[int] = set()
        self._rung = asyncio.Event()

    def put(self, incident: int) -> None:
        """Record that there is news of an incident."""
        self._heard.add(incident)
        self._rung.set()

    async def get(self) -> set[int]:
        """Wait for news, and take all of it."""
        await self._rung.wait()
        return self.taken()

    def taken(self) -> set[int]:
        """Take the news there is now."""
        self._rung.clear()
        heard, self._heard = self._heard, set()
        return heard


class Hub:
    """Who listens to which incident. Lives in one event loop; starts listening with its first listener.

    A queue holds one number, the newest: a slow reader misses nothing but outdated numbers.
    """

    def __init__(self) -> None:
        self._queues: defaultdict[int, set[Heard]] = defaultdict(set)
        self._several: dict[HeardOfSeveral, frozenset[int]] = {}
        self._tasks: list[asyncio.Task[None]] = []

    @contextmanager
    def listening(self, incident: int) -> Iterator[Heard]:
        """Yield a queue of the event numbers that this incident reaches."""
        queue: Heard = asyncio.Queue(maxsize=1)
        self._queues[incident].add(queue)
        self._ensure()
        try:
            yield queue
        finally:
            self._queues[incident].discard(queue)
            if not self._queues[incident]:
                del self._queues[incident]

    @contextmanager
    def listening_to(self, incidents: frozenset[int]) -> Iterator[HeardOfSeveral]:
        """Yield the news of any of several incidents."""
        heard = HeardOfSeveral()
        self._several[heard] = incidents
        self._ensure()
        try:
            yield heard
        finally:
            del self._several[heard]

    def tell(self, incident: int, n: int) -> None:
        """Give the newest number to each listener."""
        for queue in self._queues.get(incident, ()):
            if queue.full():
                queue.get_nowait()
            queue.put_nowait(n)
        for heard, incidents in self._several.items():
            if incident in incidents:
                heard.put(incident)

    def look(self) -> None:
        """Make every stream check its access again; those with a number waiting do so anyway."""
        for queues in self._queues.values():
            for queue in queues:
                if queue.empty():
                    queue.put_nowait(LOOK)
        for heard in self._several:
            heard.put(LOOK)

    def resync(self) -> None:
        """Make everyone check again: something may have been missed."""
        for incident in self._queues.keys() | set[int]().union(*self._several.values()):
            self.tell(incident, 0)

    def close(self) -> None:
        """Stop listening."""
        for task in self._tasks:
            task.cancel()

    def _ensure(self) -> None:
        """Make sure that both tasks are running."""
        alive = {task.get_name(): task for task in self._tasks if not task.done()}
        jobs = {"listen to timelines": self._listen, "beat": self._beat}
        loop = asyncio.get_running_loop()
        self._tasks = [alive.get(name) or loop.create_task(job(), name=name) for name, job in jobs.items()]

    async def _beat(self) -> None:
        """Make every stream check now and then, even without news: some ways to lose access notify no one."""
        while self._queues or self._several:
            await asyncio.sleep(BEAT_S)
            self.look()
            self._ensure()

    async def _listen(self) -> None:
        """Receive notifications until no one listens; reconnect with increasing delays on failure."""
        failures = 0
        while self._queues or self._several:
            try:
                async with await psycopg.AsyncConnection.connect(**parameters(), autocommit=True) as listener:
                    await listener.execute(sql.SQL("LISTEN {}").format(sql.Identifier(timeline.CHANNEL)))
                    self.resync()  # for what came before we listened, or while we could not
                    failures = 0
                    await self._hear(listener)
            except psycopg.Error:
                self.look()  # from now on no one would be told that access ended
                if not failures:  # logged once, and not every other second for as long as it lasts
                    log.warning("lost the database connection for live pages; they ask by themselves until it is back")
                wait = WAITS_S[min(failures, len(WAITS_S) - 1)]
                failures += 1
                await asyncio.sleep(wait)

    async def _hear(self, listener: psycopg.AsyncConnection[tuple[Any, ...]]) -> None:
        while self._queues or self._several:
            async for notice in listener.notifies(timeout=30):
                incident, _, n = notice.payload.partition(":")
                if incident.isdecimal() and n.isdecimal():
                    self.tell(int(incident), int(n))


def parameters() -> dict[str, Any]:
    """Return how to connect to Django's database without any pool: LISTEN belongs to one session."""
    return database_watch.direct_address() | LISTENER


hub = Hub()

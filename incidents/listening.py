"""One database connection of this process hears what changed, and tells every stream here."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.db import connection
from psycopg import sql

from incidents import timeline

log = logging.getLogger(__name__)
WAITS_S = (0.5, 1.0, 2.0, 5.0, 10.0)
Heard = asyncio.Queue[int]


class Hub:
    """Who listens to which incident. Lives in one event loop; starts listening with its first listener.

    A queue holds one number, the newest: a reader that is slow misses nothing but old numbers.
    """

    def __init__(self) -> None:
        self._queues: defaultdict[int, set[Heard]] = defaultdict(set)
        self._task: asyncio.Task[None] | None = None

    @contextmanager
    def listening(self, incident: int) -> Iterator[Heard]:
        """Give a queue of the event numbers that this incident reaches."""
        queue: Heard = asyncio.Queue(maxsize=1)
        self._queues[incident].add(queue)
        self._ensure()
        try:
            yield queue
        finally:
            self._queues[incident].discard(queue)
            if not self._queues[incident]:
                del self._queues[incident]

    def tell(self, incident: int, n: int) -> None:
        """Put the newest number where each listener finds it."""
        for queue in self._queues.get(incident, ()):
            if queue.full():
                queue.get_nowait()
            queue.put_nowait(n)

    def resync(self) -> None:
        """Tell everybody to look again: something may have been missed."""
        for incident in list(self._queues):
            self.tell(incident, 0)

    def _ensure(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._listen(), name="listen to timelines")

    async def _listen(self) -> None:
        """Hear notifications until nobody listens any more; connect again, slower each time, when that fails."""
        failures = 0
        while self._queues:
            try:
                async with await psycopg.AsyncConnection.connect(**parameters(), autocommit=True) as listener:
                    await listener.execute(sql.SQL("LISTEN {}").format(sql.Identifier(timeline.CHANNEL)))
                    self.resync()  # what came before we listened, or while we could not
                    failures = 0
                    await self._hear(listener)
            except psycopg.OperationalError:
                wait = WAITS_S[min(failures, len(WAITS_S) - 1)]
                failures += 1
                log.warning("live pages lost the database; trying again in %s s", wait)
                await asyncio.sleep(wait)

    async def _hear(self, listener: psycopg.AsyncConnection[tuple[Any, ...]]) -> None:
        while self._queues:
            async for notice in listener.notifies(timeout=30):
                incident, _, n = notice.payload.partition(":")
                if incident.isdecimal() and n.isdecimal():
                    self.tell(int(incident), int(n))


def parameters() -> dict[str, Any]:
    """Return how to reach Django's database without its pool."""
    given = connection.get_connection_params()
    wanted = {"host", "port", "dbname", "user", "password", "sslmode", "sslrootcert", "sslcert", "sslkey"}
    return {key: value for key, value in given.items() if key in wanted} | {"application_name": "firekind live"}


hub = Hub()

"""Threads for slow work, separate from the task threads, so that a slow vendor holds up nothing else."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, Final, Generic, TypeVar
from weakref import WeakSet

from django.db import connection

from incidents.outages import database_watch

log = logging.getLogger(__name__)
Key = TypeVar("Key", bound=Hashable)


def begun(
    pool: ThreadPoolExecutor, do: Callable[..., None], *args: object, waits: Callable[[], None] = lambda: None
) -> bool:
    """Start work on a thread soon; return whether one will. Once the process is ending, no thread takes any more work.

    Work refused then is left to other processes, which look for it regularly. If the system has no thread to spare, the
    work waits in the pool for one and ``waits`` is called, because the caller is often a thread that would not be
    restarted.
    """
    try:
        pool.submit(do, *args)
    except RuntimeError as error:
        if "shutdown" in str(error):
            return False
        log.warning("a thread could not be started: %s", error)
        waits()
    return True


def has_thread(pool: ThreadPoolExecutor) -> bool:
    """Return whether a pool has a thread; starts its first one.

    Work waits in a pool without one until something else is asked of it, which may be never.
    """
    if not pool._threads:  # noqa: SLF001 (nothing public says so)
        with suppress(RuntimeError):
            pool.submit(int)
    return bool(pool._threads)  # noqa: SLF001 (the same)


@contextmanager
def _heard(key: Hashable, *, failing: set[Hashable]) -> Iterator[None]:
    """Log what interrupts a thread, so that it does not die silently, and close its database connection.

    The sweep picks up what is left. While the database takes nothing, it does so every other second: that is logged
    once for each key, which is ``failing`` until it works.
    """
    try:
        yield
        failing.discard(key)
    except BaseException as error:
        takes_nothing = database_watch.says_so(error) and not database_watch.has_ended(error)
        if not takes_nothing or key not in failing:
            log.exception("%s was interrupted", key)
        if takes_nothing:
            failing.add(key)
        raise
    finally:
        connection.close()


class Aside(Generic[Key]):
    """Runs one thing at a time for each key. A key asked for again while it runs is run again afterwards."""

    def __init__(self, do: Callable[[Key], None], *, at_once: int) -> None:
        self._do = do
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix="aside")
        self._lock = threading.Lock()
        self._again: dict[Key, bool] = {}  # what is running, and whether to run it again
        self._failing: set[Hashable] = set()

    def ask(self, key: Key) -> None:
        """Have it done soon; returns immediately."""
        with self._lock:
            if key in self._again:
                self._again[key] = True
                return
            self._again[key] = False
        if not begun(self._pool, self._run, key):
            with self._lock:
                del self._again[key]

    def _run(self, key: Key) -> None:
        with self._lock:
            self._again[key] = False  # asked for again before it began: this is it
        try:
            with _heard(key, failing=self._failing):
                self._do(key)
        finally:
            with self._lock:
                again = self._again.pop(key)
            if again:
                self.ask(key)


class Lane(Generic[Key]):
    """Threads for work that waits for one vendor, so that work for the others never does.

    A key that is already waiting is not queued twice. The most recent key goes next, because someone has just acted
    there; every other time it is the one that has waited longest, so that nothing waits forever.
    """

    def __init__(self, do: Callable[[Key], object], *, at_once: int, name: str) -> None:
        self._do = do
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix=name)
        self._lock = threading.Lock()
        self._waiting: dict[Key, None] = {}
        self._failing: set[Hashable] = set()
        self._newest_next = True
        _lanes.add(self)

    def ask(self, key: Key) -> None:
        """Have it done soon; returns immediately."""
        with self._lock:
            if key in self._waiting:
                return
            self._waiting[key] = None
        if not begun(self._pool, self._run):
            with self._lock:
                self._waiting.pop(key, None)

    def end(self) -> None:
        """Leave queued work to other processes, and wait for running work."""
        with self._lock:
            self._waiting.clear()
        self._pool.shutdown()

    def _run(self) -> None:
        with self._lock:
            if not self._waiting:
                return
            key = self._next()
        with _heard(key, failing=self._failing):
            self._do(key)

    def _next(self) -> Key:
        key = next(reversed(self._waiting) if self._newest_next else iter(self._waiting))
        self._newest_next = not self._newest_next
        del self._waiting[key]
        return key


_lanes: Final[WeakSet[Lane[Any]]] = WeakSet()


def end_lanes() -> None:
    """End every lane of this process: queued work is left to other processes, and running work is waited for."""
    for lane in list(_lanes):
        lane.end()

"""Threads for slow work, separate from the task threads: who is slow holds up nobody else."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final, Generic, TypeVar
from weakref import WeakSet

from django.db import connection

log = logging.getLogger(__name__)
Key = TypeVar("Key", bound=Hashable)


def begun(
    pool: ThreadPoolExecutor, do: Callable[..., None], *args: object, waits: Callable[[], None] = lambda: None
) -> bool:
    """Have a thread do it soon, and return whether one will: once the process ends, none takes anything any more.

    What is asked for then is left to others, which look for it regularly. Where the system has no thread to spare it
    ``waits`` in the pool for one: whoever asks is often a thread that nobody would begin again.
    """
    try:
        pool.submit(do, *args)
    except RuntimeError as error:
        if "shutdown" in str(error):
            return False
        log.warning("a thread could not be started: %s", error)
        waits()
    return True


@contextmanager
def _heard(key: Hashable) -> Iterator[None]:
    """Log what interrupts a thread, which must not die unheard, and give its connection back.

    The sweep asks for what is left.
    """
    try:
        yield
    except BaseException:
        log.exception("%s was interrupted", key)
        raise
    finally:
        connection.close()


class Aside(Generic[Key]):
    """Runs one thing for each key at a time; asked for the same again meanwhile, it does it once more afterwards."""

    def __init__(self, do: Callable[[Key], None], *, at_once: int) -> None:
        self._do = do
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix="aside")
        self._lock = threading.Lock()
        self._again: dict[Key, bool] = {}  # what is under way, and whether it is to be done once more

    def ask(self, key: Key) -> None:
        """Have it done soon; returns at once."""
        with self._lock:
            if key in self._again:
                self._again[key] = True
                return
            self._again[key] = False
        if not begun(self._pool, self._run, key):
            with self._lock:
                del self._again[key]

    def _run(self, key: Key) -> None:
        try:
            with _heard(key):
                self._do(key)
        finally:
            with self._lock:
                again = self._again.pop(key)
            if again:
                self.ask(key)


class Lane(Generic[Key]):
    """Threads for what waits for one vendor, so that what others are asked for never does.

    What waits for a thread is not asked for twice. Next comes what was asked for last, since somebody has just done
    something there, and every other time what has waited longest, so that nothing waits for good.
    """

    def __init__(self, do: Callable[[Key], object], *, at_once: int, name: str) -> None:
        self._do = do
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix=name)
        self._lock = threading.Lock()
        self._waiting: dict[Key, None] = {}
        self._newest_next = True
        _lanes.add(self)

    def ask(self, key: Key) -> None:
        """Have it done soon; returns at once."""
        with self._lock:
            if key in self._waiting:
                return
            self._waiting[key] = None
        if not begun(self._pool, self._run):
            with self._lock:
                self._waiting.pop(key, None)

    def end(self) -> None:
        """Leave what waits to others, and wait for what was begun."""
        with self._lock:
            self._waiting.clear()
        self._pool.shutdown()

    def _run(self) -> None:
        with self._lock:
            if not self._waiting:
                return
            key = self._next()
        with _heard(key):
            self._do(key)

    def _next(self) -> Key:
        key = next(reversed(self._waiting) if self._newest_next else iter(self._waiting))
        self._newest_next = not self._newest_next
        del self._waiting[key]
        return key


_lanes: Final[WeakSet[Lane[Any]]] = WeakSet()


def end_lanes() -> None:
    """End every lane of this process: what waits is left to other processes, and what was begun is waited for."""
    for lane in list(_lanes):
        lane.end()

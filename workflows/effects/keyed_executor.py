"""Threads for slow work, separate from the task threads: captures do not block reading."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

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
            self._do(key)
        except BaseException:  # a thread must not die unheard: the sweep asks for what is left
            log.exception("%s was interrupted", key)
            raise
        finally:
            connection.close()
            with self._lock:
                again = self._again.pop(key)
            if again:
                self.ask(key)

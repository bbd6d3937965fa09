"""Threads for regular looks: one while looks are quick, more while one of them takes long."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

from django.db import Error, connection

from incidents.claiming.keyed_executor import begun
from incidents.outages import database_watch, migrated

log = logging.getLogger(__name__)


class LookRunner:
    """Takes looks one after the other, over one connection; those waiting behind a slow one continue in another thread.

    A look never runs twice at the same time: if asked for while it runs, it is left to the next time.
    """

    def __init__(self, take: Callable[[str], None], *, at_once: int) -> None:
        self._take = take
        self._at_once = at_once
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix="look")
        self._lock = threading.Lock()
        self._waiting: dict[str, None] = {}
        self._under_way: set[str] = set()
        self._failing: set[str] = set()
        self._over = False
        self._threads = 0
        self._unstarted = 0  # threads the system could not start yet: counted once they run

    def ask(self, names: Iterable[str]) -> None:
        """Have these looks taken soon; returns immediately."""
        with self._lock:
            if self._over:
                return
            held_up = bool(self._waiting)  # since an earlier call
            self._waiting |= dict.fromkeys(name for name in names if name not in self._under_way)
            if not self._waiting or self._threads >= self._at_once or (self._threads and not held_up):
                return
            self._threads += 1
        if not begun(self._pool, self._run, waits=self._note_unstarted):
            with self._lock:
                self._threads -= 1
                self._waiting.clear()

    def end(self) -> None:
        """Start no more looks; other processes take those that were waiting."""
        with self._lock:
            self._over = True
            self._waiting.clear()

    @property
    def busy(self) -> bool:
        """Whether a look is running or waiting."""
        with self._lock:
            return bool(self._threads or self._waiting)

    def _note_unstarted(self) -> None:
        with self._lock:
            self._threads -= 1
            self._unstarted += 1

    def _run(self) -> None:
        with self._lock:
            if self._unstarted:
                self._threads += 1
                self._unstarted -= 1
        try:
            while (name := self._next()) is not None:
                self._one(name)
        except BaseException:
            with self._lock:
                self._threads -= 1
            raise
        finally:
            connection.close()

    def _next(self) -> str | None:
        with self._lock:
            name = next(iter(self._waiting), None)
            if name is None:
                self._threads -= 1
            else:
                del self._waiting[name]
                self._under_way.add(name)
            return name

    def _one(self, name: str) -> None:
        try:
            self._take(name)
            self._failing.discard(name)
        except Error as error:
            if name not in self._failing:  # logged once, and not every other second for as long as it lasts
                log.warning("%s: the database did not answer as it should: %s", name, type(error).__name__)
                self._failing.add(name)
                migrated.is_missed_by(error)  # logs it, if migrations are missing
            database_watch.renew_pool()
            connection.close()
        except BaseException:  # logged, so that no thread dies silently; waiting looks get another one
            log.exception("%s was interrupted", name)
            raise
        finally:
            with self._lock:
                self._under_way.discard(name)

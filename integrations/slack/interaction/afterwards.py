"""Work done after Slack has its answer, because Slack accepts it only then. Nothing durable depends on it."""

from __future__ import annotations

import logging
import threading
import traceback
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from django.db import connections

from incidents.claiming.patient_threads import NoThread, PatientThreads
from integrations.slack.interaction.slack_event import Deed

log = logging.getLogger(__name__)

AT_ONCE: Final = 3  # one of them may be gathering answered commands
WAITING: Final = 100  # more are dropped, because no one would wait that long for them

_late: ContextVar[list[Deed] | None] = ContextVar("late", default=None)
_pool = PatientThreads(AT_ONCE, thread_name_prefix="afterwards")
_room = threading.BoundedSemaphore(WAITING)


@contextmanager
def collected() -> Iterator[list[Deed]]:
    """Collect the work that listeners leave for after the answer; the door starts it once that is sent."""
    deeds: list[Deed] = []
    token = _late.set(deeds)
    try:
        yield deeds
    finally:
        _late.reset(token)


def leave(deed: Deed) -> None:
    """Leave some work for after the answer."""
    deeds = _late.get()
    assert deeds is not None, "every door collects"
    deeds.append(deed)


def begin(deeds: Iterable[Deed]) -> None:
    """Start the work in other threads, without waiting for it."""
    for deed in deeds:
        if _room.acquire(blocking=False):
            try:
                _pool.submit(_carry_out, deed).add_done_callback(_ended)
            except NoThread:
                _room.release()
                log.warning("nothing is done after an answer: no thread could be started")


def _carry_out(deed: Deed) -> None:
    try:
        deed()
    finally:
        connections.close_all()


def _ended(done: Future[None]) -> None:
    """Free the slot, and log where an error happened, without its message, which may quote what people wrote."""
    _room.release()
    if (error := done.exception()) is not None:
        log.error("%s after an answer\n%s", type(error).__name__, "".join(traceback.format_tb(error.__traceback__)))

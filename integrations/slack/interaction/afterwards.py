"""What is done once Slack has its answer, because it takes that only then. Nothing is owed: losing it loses nothing."""

from __future__ import annotations

import logging
import threading
import traceback
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from django.db import connections

from integrations.slack.interaction.slack_event import Deed

log = logging.getLogger(__name__)

AT_ONCE: Final = 2
WAITING: Final = 100  # more than these are dropped: nobody waits for them as long as that would take

_late: ContextVar[list[Deed] | None] = ContextVar("late", default=None)
_pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="afterwards")
_room = threading.BoundedSemaphore(WAITING)


@contextmanager
def collected() -> Iterator[list[Deed]]:
    """Collect what listeners leave for after the answer; the door begins it once that is sent."""
    deeds: list[Deed] = []
    token = _late.set(deeds)
    try:
        yield deeds
    finally:
        _late.reset(token)


def leave(deed: Deed) -> None:
    """Leave something for after the answer."""
    deeds = _late.get()
    assert deeds is not None, "every door collects"
    deeds.append(deed)


def begin(deeds: Iterable[Deed]) -> None:
    """Begin what was left, in threads of its own; waits for nothing."""
    for deed in deeds:
        if _room.acquire(blocking=False):
            _pool.submit(_carry_out, deed).add_done_callback(_ended)


def _carry_out(deed: Deed) -> None:
    try:
        deed()
    finally:
        connections.close_all()


def _ended(done: Future[None]) -> None:
    """Make room, and log where it broke: without the error's own words, which may quote what people wrote."""
    _room.release()
    if (error := done.exception()) is not None:
        log.error("%s after an answer\n%s", type(error).__name__, "".join(traceback.format_tb(error.__traceback__)))

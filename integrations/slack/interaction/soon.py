"""Wait only a moment for a door's call to Slack: the door has three seconds, and Slack may take longer."""

from __future__ import annotations

import logging
import math
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextvars import copy_context
from typing import Any, Final, TypeVar

from django.db import connections

from incidents.claiming.patient_threads import NoThread, PatientThreads
from incidents.outages import answer_time
from integrations.slack.protocol import error_messages
from workflows.ports import VendorError

log = logging.getLogger(__name__)

WAIT_S: Final = 0.8  # of Slack's three seconds, or less if the database took most of them
AT_ONCE: Final = 24  # calls that may wait while Slack is slow; further ones fail at once

T = TypeVar("T")
_pool = PatientThreads(AT_ONCE, thread_name_prefix="soon")
_room = threading.BoundedSemaphore(AT_ONCE)
_late: set[Future[Any]] = set()  # calls that were waited for in vain


def asked(request: Callable[[], T], *, can_follow: bool = False) -> Future[T]:
    """Start a call in another thread and wait a moment; it continues if that was too short.

    If its result ``can_follow`` the door's answer, it is not waited for while Slack is slow: a door has few threads,
    and those who come next would wait for one.
    """
    if not _room.acquire(blocking=False):
        return _refused()
    try:
        begun: Future[T] = _pool.submit(copy_context().run, _asked, request)
    except NoThread:
        _room.release()
        return _refused()
    if can_follow and _late:
        return begun
    wait([begun], timeout=min(WAIT_S, answer_time.left_s()))
    if not begun.done():
        _late.add(begun)
        begun.add_done_callback(_late.discard)
    return begun


def watched(begun: Future[T]) -> None:
    """Log where a call failed that no one waits for any more, without the error's message."""
    if (error := begun.exception()) is not None:
        log.error("%s beside an answer\n%s", type(error).__name__, "".join(traceback.format_tb(error.__traceback__)))


def _asked(request: Callable[[], T]) -> T:
    try:
        with answer_time.until(math.inf):  # it continues after the door has answered
            return request()
    finally:
        connections.close_all()
        _room.release()


def _refused() -> Future[T]:
    never: Future[T] = Future()
    code = "connection_lost"
    never.set_exception(VendorError(error_messages.words(code), code=code, method="door", retryable=True))
    return never

"""Celery's part: reading evidence, on a queue of its own. Messages are hints; losing one loses nothing."""

from __future__ import annotations

import logging
import threading

from celery import shared_task
from django.utils import timezone
from kombu.exceptions import OperationalError

from evidence.intake import digesting, hints

log = logging.getLogger(__name__)

READ_AT_ONCE = 3
FRESH_S = 60  # a hint that waited longer than this is left to the sweep

_reading = threading.Semaphore(READ_AT_ONCE)


@shared_task
def read(evidence_id: int) -> None:
    """Read one piece of evidence unless another worker is reading it, then whatever else is waiting.

    Reading takes memory and processors, so a worker does only a few at once; those who read go on with the rest.
    """
    if not _reading.acquire(blocking=False):
        return
    try:
        seen: set[int] = set()
        following: int | None = evidence_id
        while following is not None and following not in seen:
            seen.add(following)
            digesting.digest(following, at=timezone.now())
            following = next(iter(digesting.waiting(at=timezone.now(), limit=1)), None)
    finally:
        _reading.release()


@shared_task
def sweep() -> None:
    """Read evidence whose hint was lost or whose reader died."""
    for evidence_id in digesting.waiting(at=timezone.now()):
        hint(evidence_id)


def hint(evidence_id: int) -> None:
    """Ask a worker to read evidence soon. When the broker is away the sweep finds it instead."""
    try:
        read.apply_async((evidence_id,), expires=FRESH_S, retry=False)
    except (OperationalError, OSError) as error:
        log.warning("no hint for evidence %s: %s", evidence_id, type(error).__name__)


hints.listeners.append(hint)

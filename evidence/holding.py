"""Hold the claim on evidence while it is read: for as long as that takes, and hardly longer than the reader lives."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Final

from django.db import Error, connection
from django.utils import timezone

from evidence.models import Evidence
from evidence.models.evidence import State

log = logging.getLogger(__name__)

LEASE: Final = timedelta(seconds=15)  # a reader that died is replaced that late
BEATS: Final = 5  # in one lease, so that a slow database costs no claim


@contextmanager
def held(evidence: Evidence) -> Iterator[None]:
    """Renew the claim on evidence from another thread for as long as the block lasts."""
    done = threading.Event()
    beating = threading.Thread(target=_beat, args=(evidence, done), name="reading", daemon=True)
    beating.start()
    try:
        yield
    finally:
        done.set()
        beating.join()


def renew(evidence: Evidence) -> bool:
    """Hold the claim for one more lease; tell whether it was still held."""
    mine = Evidence.objects.filter(pk=evidence.pk, attempt=evidence.attempt, state=State.READING)
    return bool(mine.update(leased_until=timezone.now() + LEASE))


def _beat(evidence: Evidence, done: threading.Event) -> None:
    while not done.wait(LEASE.total_seconds() / BEATS):
        try:
            if not renew(evidence):
                return
        except Error:  # the next beat may do better; without any the claim is lost, which is safe
            log.warning("the claim on evidence %s could not be renewed", evidence.pk)
        finally:
            connection.close()

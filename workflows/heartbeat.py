"""Hold the claim on an effect for as long as it takes, however long that is beyond one lease."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import Error, connection
from django.utils import timezone

from workflows import effects
from workflows.work import Work

log = logging.getLogger(__name__)

BEATS = 3  # in one lease, so that a slow database costs no claim


@contextmanager
def of(work: Work) -> Iterator[None]:
    """Renew a claim from another thread for as long as the block lasts.

    A worker that dies stops renewing, and one lease later somebody else takes the effect over.
    """
    done = threading.Event()
    beating = threading.Thread(target=_beat, args=(work, done), name="heartbeat", daemon=True)
    beating.start()
    try:
        yield
    finally:
        done.set()
        beating.join()


def _beat(work: Work, done: threading.Event) -> None:
    while not done.wait(settings.FIREKIND.lease_s / BEATS):
        try:
            if not effects.keep_hold(work, at=timezone.now()):
                return
        except Error:  # the next beat may do better; without any the claim is lost, which is safe
            log.warning("the claim on effect %s could not be renewed", work.effect.pk)
        finally:
            connection.close()

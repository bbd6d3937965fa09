"""Hold a claim for as long as the work lasts, and barely longer than its worker lives."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import Error, connection

log = logging.getLogger(__name__)


@contextmanager
def beating(renew: Callable[[], bool], *, every_s: float, what: str) -> Iterator[None]:
    """Renew a claim from another thread for as long as the block lasts, or until ``renew`` says that it is lost.

    Whoever dies stops renewing, and once the lease ran out someone else takes the work over.
    """
    done = threading.Event()
    thread = threading.Thread(target=_beat, args=(renew, every_s, what, done), name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _beat(renew: Callable[[], bool], every_s: float, what: str, done: threading.Event) -> None:
    while not done.wait(every_s):
        try:
            if not renew():
                return
        except Error:  # the next beat may do better; without any the claim is lost, which is safe
            log.warning("could not renew the claim on %s", what)
        finally:
            connection.close()

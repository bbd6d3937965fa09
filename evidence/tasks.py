"""The Celery tasks: reading evidence, on a queue of its own. Messages are hints; losing one loses nothing."""

from __future__ import annotations

import threading
from typing import Final

from celery import shared_task
from django.utils import timezone

from evidence.intake import digesting, hints, withdrawing
from incidents.claiming.glance import acts_on
from incidents.claiming.keyed_executor import Lane
from incidents.outages import hint_sender

READ_AT_ONCE = 3
FETCH_AT_ONCE: Final = 4
FRESH_S = 60  # a hint that waited longer than this is left to the sweep

_reading = threading.Semaphore(READ_AT_ONCE)


@shared_task
def read(evidence_id: int) -> None:
    """Read one piece of evidence unless another worker is reading it, then whatever else is waiting.

    Reading takes memory and processors, so a worker reads only a few at once; readers continue with the rest. A file
    that is still elsewhere is fetched before that, in separate threads: its source may be slow or unresponsive.
    """
    if digesting.is_elsewhere(evidence_id):
        _fetching.ask(evidence_id)
        return
    if not _reading.acquire(blocking=False):
        return
    try:
        seen: set[int] = set()
        following: int | None = evidence_id
        while following is not None and following not in seen:
            seen.add(following)
            digesting.digest(following, at=timezone.now())
            following = next(iter(digesting.waiting(at=timezone.now(), limit=1, stored=True)), None)
    finally:
        _reading.release()


def _fetch(evidence_id: int) -> None:
    digesting.fetch(evidence_id, at=timezone.now())
    if not digesting.is_elsewhere(evidence_id):
        hint(evidence_id)


_fetching: Final = Lane(_fetch, at_once=FETCH_AT_ONCE, name="fetch")


@shared_task
@acts_on(unread=lambda now: digesting.CLAIMS.free_by(now.shared), withdrawn=lambda _: withdrawing.still_stored())
def sweep() -> None:
    """Read evidence whose hint was lost or whose reader died; remove files that could not be removed on withdrawal."""
    for evidence_id in digesting.waiting(at=timezone.now()):
        hint_sender.found(read, evidence_id, fresh_s=FRESH_S)
    for one in withdrawing.owed(at=timezone.now()):
        if not withdrawing.remove(one):
            break


def hint(evidence_id: int) -> None:
    """Ask a worker to read evidence soon. If the broker is down, the sweep finds it instead."""
    hint_sender.send(read, evidence_id, fresh_s=FRESH_S)


hints.listeners.append(hint)

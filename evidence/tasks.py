"""Celery's part: reading evidence, on a queue of its own. Messages are hints; losing one loses nothing."""

from __future__ import annotations

import logging

from celery import shared_task
from django.utils import timezone
from kombu.exceptions import OperationalError

from evidence import digesting, told

log = logging.getLogger(__name__)

FRESH_S = 60  # a hint that waited longer than this is left to the sweep


@shared_task
def read(evidence_id: int) -> None:
    """Read one piece of evidence, unless somebody else does."""
    digesting.digest(evidence_id, at=timezone.now())


@shared_task
def sweep() -> None:
    """Read what waits although nobody was told, or whose reader died."""
    for evidence_id in digesting.waiting(at=timezone.now()):
        hint(evidence_id)


def hint(evidence_id: int) -> None:
    """Ask a worker to read evidence soon. When the broker is away the sweep finds it instead."""
    try:
        read.apply_async((evidence_id,), expires=FRESH_S, retry=False)
    except (OperationalError, OSError) as error:
        log.warning("no hint for evidence %s: %s", evidence_id, type(error).__name__)


told.listeners.append(hint)

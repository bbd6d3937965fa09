"""Celery tasks that process stored webhooks. Messages are only hints; losing one loses nothing."""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import Final

from celery import shared_task
from django.db import transaction
from django.utils import timezone

from incidents.claiming.glance import acts_on
from incidents.outages import hint_sender
from integrations.pagerduty.webhooks import inbox, translate_webhook
from workflows.oncall import people

FRESH_S: Final = 30  # a hint that waited longer is left to the sweep
AT_ONCE: Final = 2  # of a worker's threads, so that a storm of webhooks does not block the effects of incidents
APART_S: Final = 0.1  # between two hints of a process; the task that takes one drains the queue


@shared_task
def take(webhook_id: int) -> None:
    """Process stored webhooks until none is left, unless enough other tasks are already doing so."""
    _asked.set()
    while _asked.is_set() and _taking.acquire(blocking=False):
        try:
            _asked.clear()
            _take_all()
        finally:
            _taking.release()


def _take_all() -> None:
    ours = people.our_ids()
    while inbox.take(partial(translate_webhook.act, ours=ours, at=timezone.now()), at=timezone.now()):
        pass


@shared_task
@acts_on(webhooks=lambda now: inbox.due(now.shared))
def sweep() -> None:
    """Process webhooks that were stored without a hint, or whose next try is due."""
    waiting = inbox.waiting(at=timezone.now())
    if waiting is not None:
        hint_sender.found(take, waiting, fresh_s=FRESH_S)


def hint(webhook_id: int) -> None:
    """Ask a worker to process a webhook soon, after the commit. If the broker is away, the sweep finds it instead."""
    transaction.on_commit(lambda: _hints.ask(webhook_id))


def _send(webhook_id: int) -> None:
    hint_sender.send(take, webhook_id, fresh_s=FRESH_S)


class _Hints:
    """Combines the hints of a short interval into one, sent in a thread of its own so that no answer waits."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next = 0.0
        self._timer: threading.Timer | None = None

    def ask(self, webhook_id: int) -> None:
        with self._lock:
            if self._timer is not None:
                return
            wait_s = max(0.0, self._next - time.monotonic())
            self._timer = threading.Timer(wait_s, self._send, (webhook_id,))
            self._timer.daemon = True
            self._timer.start()

    def _send(self, webhook_id: int) -> None:
        with self._lock:  # a webhook stored after this may miss the hint, so it needs another
            self._timer, self._next = None, time.monotonic() + APART_S
        _send(webhook_id)


_asked = threading.Event()
_taking = threading.Semaphore(AT_ONCE)
_hints = _Hints()

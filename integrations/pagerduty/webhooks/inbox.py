"""The webhook queue: each webhook is stored exactly once, processed in order and never lost.

PagerDuty's signature covers no time, so a webhook may be replayed at any time: a processed one keeps its row, without
its body.
"""

from __future__ import annotations

import hashlib
import json
import logging
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final

from django.db import connection, transaction
from django.db.models import QuerySet

from incidents.claiming import leases
from incidents.claiming.shared_clock import clock
from incidents.outages import database_watch
from integrations.pagerduty.models import Webhook
from integrations.pagerduty.webhooks import payload
from integrations.pagerduty.webhooks.alert_now import AlertNow
from workflows.alerts.storms import MayBeOver

log = logging.getLogger(__name__)

State = Webhook.State
Act = Callable[..., str]  # of a webhook and the ``later`` ones; see `translate_webhook.act`
ATTEMPTS: Final = 20  # about half a day with the back-off below
BACK_OFF_AT_MOST_S: Final = 3600
PAGES_AT_ONCE: Final = 50
AT_ONCE: Final = 50  # webhooks of one PagerDuty incident in one transaction
# No conflict target, because either unique column may conflict: the webhook's key or the event's id.
STORE: Final = """
    INSERT INTO pagerduty_webhook (key, event_id, page_id, kind, at, body, received_at, state, attempt, due_at, says)
    VALUES (%s, %s, %s, %s, %s, %s::jsonb, %s, %s, 0, %s, %s) ON CONFLICT DO NOTHING RETURNING id
"""
DUE: Final = """
    SELECT page_id FROM pagerduty_webhook WHERE state = 'waiting' AND due_at <= %s
     GROUP BY page_id ORDER BY min(at), min(id) LIMIT %s
"""


@dataclass(frozen=True, slots=True)
class StoredWebhook:
    """A webhook stored under a number; ``waits`` is set if it has to be processed."""

    number: int
    waits: bool


def store(body: bytes, *, key: str, at: datetime) -> StoredWebhook | None:
    """Store a signed webhook in one statement; None when it, or the event it reports, was stored before."""
    read = payload.read(body, at=at) or payload.unreadable(body)
    values = [
        _short(key or read.event_id or hashlib.sha256(body).hexdigest()),
        read.event_id,
        read.page_id,
        read.kind,
        read.at,
        json.dumps(read.body) if read.body else None,
        at,
        read.state,
        clock.at(at),
        read.says,
    ]
    with connection.cursor() as cursor:
        cursor.execute(STORE, values)
        row = cursor.fetchone()
    return StoredWebhook(int(row[0]), read.state == State.WAITING) if row else None


def _short(key: str) -> str:
    return key if len(key) <= 200 else hashlib.sha256(key.encode()).hexdigest()


def take(act: Act, *, at: datetime) -> int:
    """Process due webhooks, for a number of PagerDuty incidents in turn; return how many webhooks that was.

    Webhooks about one incident are processed in the order of their events, in one transaction. One that fails waits for
    its next try and records why; the rest proceed.
    """
    with connection.cursor() as cursor:
        cursor.execute(DUE, [clock.at(at), PAGES_AT_ONCE])
        pages = [row[0] for row in cursor.fetchall()]
    now = AlertNow()
    return sum(_take(page, act, now, at=at) for page in pages)


def _take(page_id: str, act: Act, now: AlertNow, *, at: datetime) -> int:
    try:
        return _take_in_order(page_id, act, at=at)
    except MayBeOver:
        found = now.ask(page_id)  # outside any transaction or lock
        return _take_in_order(page_id, partial(act, asks=False, found=found), at=at)


def _take_in_order(page_id: str, act: Act, *, at: datetime) -> int:
    with transaction.atomic():
        if not leases.alone("pagerduty.inbox", page_id):
            return 0
        due = Webhook.objects.filter(page_id=page_id, state=State.WAITING, due_at__lte=clock.at(at))
        webhooks = list(due.order_by("at", "pk")[:AT_ONCE])
        for n, webhook in enumerate(webhooks, 1):
            _act(partial(act, later=webhooks[n:]), webhook, at=at)
    return len(webhooks)


def _act(act: Act, webhook: Webhook, *, at: datetime) -> None:
    try:
        with transaction.atomic():
            webhook.says = act(webhook)
    except MayBeOver:
        raise
    except Exception as error:  # noqa: BLE001 (a bug or a failing database delays this webhook and no other)
        log.warning("webhook %s (%s): %s %s", webhook.pk, webhook.kind, type(error).__name__, _where(error))
        _again_later(webhook, error, at=at)
    else:
        webhook.state, webhook.body = State.DONE, None
    fields = ("attempt", "state", "body", "says", "due_at")
    Webhook.objects.filter(pk=webhook.pk).update(**{name: getattr(webhook, name) for name in fields})


def _where(error: BaseException) -> str:
    """Return the place of an error without its message, because a database quotes the values it was given."""
    return ", ".join(
        f"{Path(one.filename).name}:{one.lineno}" for one in traceback.extract_tb(error.__traceback__)[-4:]
    )


def _again_later(webhook: Webhook, error: BaseException, *, at: datetime) -> None:
    webhook.attempt += 1
    webhook.due_at = clock.at(at) + timedelta(seconds=min(BACK_OFF_AT_MOST_S, 2**webhook.attempt))
    webhook.says = f"Processing failed ({type(error).__name__}). Retrying automatically; see the worker's log."
    if webhook.attempt >= ATTEMPTS and not database_watch.says_so(error):
        webhook.state = State.FAILED
        webhook.says = f"Processing failed ({type(error).__name__}); see the worker's log. The webhook is kept."


def due(now: datetime) -> QuerySet[Webhook]:
    """Return the webhooks that are due at a time of the shared clock."""
    return Webhook.objects.filter(state=State.WAITING, due_at__lte=now)


def waiting(*, at: datetime) -> int | None:
    """Return the number of a due webhook, or None; it finds those whose hints were lost."""
    return due(clock.at(at)).values_list("pk", flat=True).first()


def stuck() -> tuple[int, int]:
    """Return how many webhooks are being retried after an error, and how many were given up and kept."""
    again = Webhook.objects.filter(state=State.WAITING, attempt__gt=0).count()
    return again, Webhook.objects.filter(state=State.FAILED).count()

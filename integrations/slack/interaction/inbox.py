"""Deduplicate deliveries: Slack sends an event up to four times, and anyone may replay a request."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.db import connection

from integrations.slack.models import Delivery

KEPT: Final = timedelta(days=3)  # the longest that Slack retries an event is a day
SWEEP_EVERY: Final = 200
# SKIP LOCKED: two sweeps at once take different rows instead of waiting for each other.
SWEEP: Final = """
    DELETE FROM slack_delivery WHERE id IN (
        SELECT id FROM slack_delivery WHERE received_at < %s ORDER BY received_at LIMIT 1000 FOR UPDATE SKIP LOCKED
    )
"""
TAKE: Final = """
    INSERT INTO slack_delivery (key, received_at, words) VALUES (%s, %s, '')
    ON CONFLICT (key) DO NOTHING RETURNING id
"""


def take(key: str, *, at: datetime) -> int | None:
    """Record a delivery in the caller's transaction and return its number; None when it was acted on before.

    A second copy that comes while the first is still at work waits for it here.
    """
    with connection.cursor() as cursor:
        cursor.execute(TAKE, [key[:200], at])
        row = cursor.fetchone()
        if row is None:
            return None
        if row[0] % SWEEP_EVERY == 0:
            cursor.execute(SWEEP, [at - KEPT])
    return int(row[0])


def give_back(number: int) -> None:
    """Forget a delivery in the transaction that recorded it: what it is about may be asked for again."""
    Delivery.objects.filter(pk=number).delete()


def keep(number: int, words: str) -> None:
    """Keep a command's words with its delivery, until its author has said which incident it is for."""
    Delivery.objects.filter(pk=number).update(words=words)


def kept(number: int) -> str:
    """Return the words that were kept, and hold them for the caller's transaction; empty when they are spent."""
    delivery = Delivery.objects.select_for_update(no_key=True).filter(pk=number).first()
    return delivery.words if delivery else ""


def spend(number: int) -> None:
    """Drop the words that were kept: they are carried out."""
    Delivery.objects.filter(pk=number).update(words="")

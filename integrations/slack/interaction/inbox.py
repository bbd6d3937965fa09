"""Deduplicate deliveries: Slack sends an event up to four times, and anyone may replay a request."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import connection

from incidents.claiming.shared_clock import clock
from integrations.slack.models import Delivery

KEPT: Final = timedelta(days=3)  # Slack retries an event for a day at most
SWEEP_EVERY: Final = 200
# SKIP LOCKED: concurrent sweeps take different rows instead of waiting for each other.
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
    """Record a delivery in the caller's transaction and return its number; None when it was handled before.

    A second copy that arrives while the first is still in progress waits for it here.
    """
    now = clock.at(at)
    with connection.cursor() as cursor:
        cursor.execute(TAKE, [key[:200], now])
        row = cursor.fetchone()
        if row is None:
            return None
        if row[0] % SWEEP_EVERY == 0:
            cursor.execute(SWEEP, [now - KEPT])
    return int(row[0])


def give_back(number: int) -> None:
    """Undo the record of a delivery in the same transaction, so that the request can be sent again."""
    Delivery.objects.filter(pk=number).delete()


def keep(number: int, words: str) -> None:
    """Keep a command's words with its delivery until its author has chosen an incident."""
    Delivery.objects.filter(pk=number).update(words=words)


def kept(number: int) -> str:
    """Return the kept words and lock them for the caller's transaction; empty when they were used."""
    delivery = Delivery.objects.select_for_update(no_key=True).filter(pk=number).first()
    return delivery.words if delivery else ""


def spend(number: int) -> None:
    """Delete the kept words after they were carried out."""
    Delivery.objects.filter(pk=number).update(words="")


@dataclass(frozen=True, slots=True)
class UnansweredCommand:
    """A command that was carried out, as far as anyone knows without its author having been told."""

    incident_id: int
    at: datetime


def expect_answer(key: str, incident_id: int, *, at: datetime) -> None:
    """Record in the caller's transaction that a command acted on an incident and is not answered yet."""
    row = Delivery(key=key, received_at=clock.at(at), words=str(incident_id))
    fields = ["received_at", "words"]
    Delivery.objects.bulk_create([row], update_conflicts=True, unique_fields=["key"], update_fields=fields)


def unanswered(key: str, *, since: datetime) -> UnansweredCommand | None:
    """Return the same command from before if it came after ``since`` and may not have been answered."""
    row = Delivery.objects.filter(key=key, received_at__gte=clock.at(since)).first()
    return UnansweredCommand(int(row.words), row.received_at) if row is not None else None


def forget(key: str) -> None:
    """Record that a command was answered."""
    Delivery.objects.filter(key=key).delete()

"""Deduplicate deliveries: Slack sends an event up to four times, and anyone may replay a request."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import connection
from django.db.backends.utils import CursorWrapper

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
TAKE_COMMAND: Final = """
    INSERT INTO slack_delivery (key, received_at, words) VALUES (%s, %s, ''), (%s, %s, %s)
    ON CONFLICT (key) DO NOTHING RETURNING id, key
"""
# Gives the time from before, and keeps the new one.
BEFORE: Final = """
    UPDATE slack_delivery now SET received_at = %s, words = %s FROM slack_delivery before
     WHERE now.key = %s AND before.id = now.id RETURNING before.received_at, before.words
"""
FORGET: Final = "DELETE FROM slack_delivery WHERE key = ANY(%s)"


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
        _sweep(cursor, row[0], now)
    return int(row[0])


@dataclass(frozen=True, slots=True)
class TakenCommand:
    """A command that was taken: its number, when it came, and when the same came ``before`` without an answer, if so.

    Both times are by the database's clock. ``entered_at`` is the earlier time as its entries have it.
    """

    number: int
    at: datetime
    before: datetime | None = None
    entered_at: datetime | None = None


def take_command(key: str, typed: str, *, at: datetime) -> TakenCommand | None:
    """Record a command as ``take`` does, and in the same statement that it is not answered yet, as ``typed``."""
    now = clock.at(at)
    with connection.cursor() as cursor:
        cursor.execute(TAKE_COMMAND, [key[:200], now, typed, now, at.isoformat()])
        numbers = {key: number for number, key in cursor.fetchall()}
        number = numbers.pop(key[:200], None)
        if number is None:
            return None
        _sweep(cursor, number, now)
        if not numbers:
            cursor.execute(BEFORE, [now, at.isoformat(), typed])
            for before, words in cursor.fetchall():
                return TakenCommand(number, now, before, datetime.fromisoformat(words))
    return TakenCommand(number, now)


def forget(typed: list[str]) -> None:
    """Record that commands were answered."""
    with connection.cursor() as cursor:
        cursor.execute(FORGET, [typed])


def _sweep(cursor: CursorWrapper, number: int, now: datetime) -> None:
    if number % SWEEP_EVERY == 0:
        cursor.execute(SWEEP, [now - KEPT])


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

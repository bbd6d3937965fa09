"""A database that loses its last moments, as after a failover to a replica or a restore from a copy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.apps import apps
from django.db import connection, transaction


@contextmanager
def lost() -> Iterator[None]:
    """Roll back what happens inside, including issued numbers; vendors keep what they were told."""
    numbers = _numbers()
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
    with connection.cursor() as cursor:
        for sequence, (last, is_called) in numbers.items():
            cursor.execute("SELECT setval(%s, %s, %s)", [sequence, last, is_called])


def _numbers() -> dict[str, tuple[int, bool]]:
    """Return each table's last issued number, by the name of its sequence."""
    numbers = {}
    with connection.cursor() as cursor:
        for model in apps.get_models():
            cursor.execute("SELECT pg_get_serial_sequence(%s, %s)", [model._meta.db_table, model._meta.pk.column])
            (sequence,) = cursor.fetchone()
            if sequence is not None:
                cursor.execute(f"SELECT last_value, is_called FROM {sequence}")  # noqa: S608 (a name of ours)
                numbers[sequence] = cursor.fetchone()
    return numbers

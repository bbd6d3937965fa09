"""One at a time, among all processes, for what no single row stands for."""

from __future__ import annotations

from django.db import connection


def take(name: str) -> None:
    """Wait until nobody else holds this turn, and hold it to the end of the caller's transaction.

    Older processes that run meanwhile have to know it by the same name.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [name])

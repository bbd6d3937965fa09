"""Mutual exclusion among all processes, for work that no single row represents."""

from __future__ import annotations

from django.db import connection


def take(name: str) -> None:
    """Wait until no other transaction holds this turn, then hold it until the caller's transaction ends.

    Processes of an older version that run in the meantime must use the same name.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [name])

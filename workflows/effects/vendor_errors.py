"""Count the calls that ended in an error, for operators who monitor Firekind from outside."""

from __future__ import annotations

from django.db import connection

COUNT = """
    INSERT INTO workflows_vendorerrors (port, code, count) VALUES (%s, %s, 1)
    ON CONFLICT (port, code) DO UPDATE SET count = workflows_vendorerrors.count + 1
"""


def count(port: str, code: str) -> None:
    """Count one more error of a port by its code, after the error was recorded, so that nothing waits for the count."""
    with connection.cursor() as cursor:
        cursor.execute(COUNT, [port, code[:80]])

"""Whether a database can hold what Firekind keeps: its version, its encoding, the pooler before it, and our rights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from django.db import DatabaseError, connection, transaction

OLDEST: Final = 15
UTF8: Final = "UTF8"
# Tables of ours that exist and that our role may not use, as after a migration without new grants.
CLOSED: Final = """
    SELECT count(*), min(relname) FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
       AND to_regclass('public.incidents_incident') IS NOT NULL
       AND relname ~ '^(audit|auth|django|evidence|identity|incidents|insights|mfa|pagerduty|reviews|slack|workflows)_'
       AND NOT (has_table_privilege(oid, 'SELECT') AND (relname = 'django_migrations'
                OR has_table_privilege(oid, 'INSERT')))
"""


def unfit() -> Iterator[str]:
    """Yield a sentence for each reason why this database does not do."""
    if not _keeps_transactions():
        yield (
            "What stands before the database ends each transaction after its first statement: set pool_mode = "
            "transaction in PgBouncer, or DATABASE_URL to the server itself."
        )
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('server_version_num')::int / 10000, current_setting('server_encoding')")
        version, encoding = cursor.fetchone()
    if version < OLDEST:
        yield f"PostgreSQL is version {version}, and Firekind needs {OLDEST} or newer: upgrade the server."
    if encoding != UTF8:
        yield (
            f"The database keeps text as {encoding}, which cannot hold all that people write: make one with "
            "`createdb --template template0 --encoding UTF8`, and set DATABASE_URL to it."
        )


def closed() -> Iterator[str]:
    """Yield a sentence where our role may not use tables that are there."""
    with connection.cursor() as cursor:
        cursor.execute(CLOSED)
        count, first = cursor.fetchone()
    if count:
        tables = first if count == 1 else f"{first} and {count - 1} more tables"
        yield f"The database role may not use {tables}: run audit/grants.sql as the owner of the tables."


def _keeps_transactions() -> bool:
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            cursor.execute("SELECT 2")
    except DatabaseError:
        return False
    return True

"""Whether a database fits Firekind: its version, its encoding, the pooler in front of it, and our rights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from django.db import DatabaseError, connection, transaction

OLDEST: Final = 15
UTF8: Final = "UTF8"
# Existing tables of ours that our role may not use as audit/grants.sql grants, as after a migration without it.
CLOSED: Final = """
    SELECT count(*), min(relname) FROM pg_class
     WHERE pg_table_is_visible(oid) AND relkind IN ('r', 'p') AND to_regclass('incidents_incident') IS NOT NULL
       AND relname ~ '^(audit|auth|django|evidence|identity|incidents|insights|mfa|pagerduty|reviews|slack|workflows)_'
       AND NOT (has_table_privilege(oid, 'SELECT') AND (relname = 'django_migrations'
                OR has_table_privilege(oid, 'INSERT') AND (EXISTS (
                    SELECT FROM pg_trigger WHERE tgrelid = pg_class.oid AND tgname = relname || '_rows_kept')
                OR has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))))
"""
# The schema with tables of ours that our role does not see: it lacks the right, or its search_path lacks the schema.
UNSEEN: Final = """
    SELECT min(nspname), current_user, current_database()
      FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE relname = 'incidents_incident' AND relkind IN ('r', 'p') AND to_regclass('incidents_incident') IS NULL
"""


def unfit() -> Iterator[str]:
    """Yield a sentence for each reason why this database cannot be used."""
    if not _keeps_transactions():
        yield (
            "The proxy in front of the database ends each transaction after its first statement: set pool_mode = "
            "transaction in PgBouncer, or DATABASE_URL to the server itself."
        )
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('server_version_num')::int / 10000, current_setting('server_encoding'), "
            "current_setting('datestyle'), current_database()"
        )
        version, encoding, dates, name = cursor.fetchone()
    if version < OLDEST:
        yield f"PostgreSQL is version {version}, and Firekind needs {OLDEST} or newer: upgrade the server."
    if encoding != UTF8:
        yield (
            f"The database keeps text as {encoding}, which cannot hold all that people write: make one with "
            "`createdb --template template0 --encoding UTF8`, and set DATABASE_URL to it."
        )

    if not dates.startswith("ISO"):
        yield (
            f"PostgreSQL writes times as {dates}, which cannot be read: have an owner run ALTER DATABASE {name} SET "
            "datestyle = 'ISO', and leave PGDATESTYLE out."
        )


def read_only() -> str:
    """Return why nothing can be changed, and what to do; empty if it can."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('transaction_read_only'), pg_is_in_recovery()")
        is_read_only, follows = cursor.fetchone()
    if follows:
        return "PostgreSQL is a standby, where nothing can be changed: promote it, or set DATABASE_URL to the primary."
    if is_read_only == "on":
        return (
            "PostgreSQL is read-only: reset default_transaction_read_only, which is set for the server, the database "
            "or the role."
        )
    return ""


def closed() -> Iterator[str]:
    """Yield a sentence if our role does not see the existing tables, or may not use them."""
    with connection.cursor() as cursor:
        cursor.execute(UNSEEN)
        schema, role, name = cursor.fetchone()
        if schema:
            yield (
                f"The tables are in the schema {schema}, where the database role {role} does not look: run "
                f"audit/grants.sql as their owner, and ALTER ROLE {role} IN DATABASE {name} SET search_path = {schema}."
            )
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

"""If the application does not own the tables, its grants are sufficient, and never excessive."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

import audit
from audit.sealed import sealing, verifying

GRANTS = Path(settings.BASE_DIR) / "audit" / "grants.sql"
ROLE = f"firekind_app_{os.getpid()}"  # one for each process: roles belong to the whole server


@pytest.fixture
def as_application(db: None) -> Iterator[None]:
    """Run the grants, and continue as the role that they are for."""
    grants = GRANTS.read_text().replace("firekind_app", ROLE)
    with connection.cursor() as cursor:
        cursor.execute(grants)
        cursor.execute(f"SET LOCAL ROLE {ROLE}")
    yield
    with connection.cursor() as cursor:
        cursor.execute("RESET ROLE")


def test_it_may_call_functions_where_a_server_lets_not_everyone_do_so(db: None) -> None:
    grants = GRANTS.read_text().replace("firekind_app", ROLE)
    with connection.cursor() as cursor:
        cursor.execute("REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC")
        cursor.execute(grants)
        cursor.execute(f"SET LOCAL ROLE {ROLE}")
        cursor.execute("SELECT workflows_claim(now(), now(), 0, 1, '{}')")
        assert cursor.fetchall() == []


@pytest.mark.parametrize("table", ["audit_entry", "audit_redaction", "audit_seal", "incidents_event"])
@pytest.mark.parametrize("statement", ["UPDATE {} SET at = now()", "DELETE FROM {}", "TRUNCATE {} CASCADE"])
def test_the_application_may_not_change_what_is_kept(as_application: None, table: str, statement: str) -> None:
    with (
        connection.cursor() as cursor,
        pytest.raises(DatabaseError, match="permission denied"),
        transaction.atomic(),
    ):
        cursor.execute(statement.format(table))


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE audit_entry DISABLE TRIGGER USER",
        "DROP TRIGGER audit_entry_rows_kept ON audit_entry",
        "ALTER TABLE audit_entry OWNER TO CURRENT_USER",
        "SET session_replication_role = replica",
        "CREATE OR REPLACE FUNCTION audit_is_kept() RETURNS trigger LANGUAGE sql AS ''",
    ],
)
def test_nor_take_the_triggers_away(as_application: None, statement: str) -> None:
    with connection.cursor() as cursor, pytest.raises(DatabaseError), transaction.atomic():
        cursor.execute(statement)


def test_it_notes_and_seals_and_checks(as_application: None) -> None:
    audit.note("sign-in", by=7)
    assert audit.once("once", "read", by=7)
    assert sealing.seal(at=timezone.now()) == 2
    assert verifying.verify(at=timezone.now()).rows == 2

"""The timeline is sealed with the audit: changes that its owner makes behind the triggers are detected, and named."""

from __future__ import annotations

import re
from datetime import datetime

import pytest
from django.db import connection
from django.utils import timezone

from audit.sealed import sealing, verifying
from incidents import lifecycle
from incidents.audited import sealed_rows
from incidents.models import Event, Incident, Person

pytestmark = pytest.mark.django_db
TABLE = sealed_rows.TIMELINE.table
CHANGED = {
    "jsonb": "{} || '{{\"forged\": true}}'",
    "text": "{} || '.'",
    "character varying": "left(coalesce({}, ''), 3) || '.'",
    "timestamp with time zone": "{} + interval '1 microsecond'",
    "integer": "coalesce({}, 0) + 1",
    "bigint": "coalesce({}, 0) + 1",
    "boolean": "NOT {}",
}


@pytest.fixture
def noted(incident: Incident, ada: Person) -> Event:
    """Return an entry of a timeline that was sealed with the rest of it."""
    lifecycle.note(incident, text="The cache is empty", by=ada, at=timezone.now())
    assert sealing.seal(at=timezone.now())
    assert verifying.verify(at=timezone.now()).rows >= Event.objects.count() > 1
    return Event.objects.filter(incident=incident).latest("n")


def tamper(statement: str, *values: int) -> None:
    """Do what only the table's owner can, after disabling its triggers and constraints."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(f"ALTER TABLE {TABLE} DISABLE TRIGGER ALL")
        cursor.execute(statement, list(values))
        cursor.execute(f"ALTER TABLE {TABLE} ENABLE TRIGGER ALL")
        for part in ("rows", "table"):
            cursor.execute(f"ALTER TABLE {TABLE} ENABLE ALWAYS TRIGGER {TABLE}_{part}_kept")
        cursor.execute("SET LOCAL session_replication_role = origin")


def columns() -> dict[str, str]:
    """Return the type of each column, by name."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT column_name, data_type FROM information_schema.columns"
            " WHERE table_name = %s AND table_schema = current_schema() AND is_generated = 'NEVER'",
            [TABLE],
        )
        return dict(cursor.fetchall())


def test_a_change_of_any_column_is_found(noted: Event) -> None:
    now: datetime = timezone.now()
    for name, type in columns().items():
        if name == sealed_rows.TIMELINE.id:
            continue
        point = f"before_{name}"
        with connection.cursor() as cursor:
            cursor.execute(f"SAVEPOINT {point}")
            tamper(f'UPDATE {TABLE} SET "{name}" = {CHANGED[type].format(name)} WHERE id = %s', noted.pk)  # noqa: S608  # the table above
            with pytest.raises(verifying.ChainBroken, match=f"Row {noted.pk} of {TABLE} was changed after seal"):
                verifying.verify(at=now)
            cursor.execute(f"ROLLBACK TO SAVEPOINT {point}")
    assert verifying.verify(at=now).rows


def test_a_line_that_was_taken_away_is_found(noted: Event) -> None:
    tamper(f"DELETE FROM {TABLE} WHERE id = %s", noted.pk)  # noqa: S608  # the table above
    with pytest.raises(verifying.ChainBroken, match=re.compile(f"Row {noted.pk} of {TABLE}, which seal .* is missing")):
        verifying.verify(at=timezone.now())

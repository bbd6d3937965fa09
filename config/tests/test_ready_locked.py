"""Someone keeps a lock on a table that a declaration writes: `/ready` says so, because nothing would be carried out."""

from __future__ import annotations

import re
from typing import Final

import psycopg
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from config.http import readiness
from incidents.outages import database_watch
from integrations.tests import house as building

WRITES: Final = re.compile(r'(?:INSERT INTO|UPDATE|DELETE FROM) "?(?!SET\b)(\w+)"?')
MODES: Final = ("SHARE", "SHARE ROW EXCLUSIVE", "EXCLUSIVE", "ACCESS EXCLUSIVE")
HARMLESS: Final = ("ACCESS SHARE", "ROW EXCLUSIVE", "SHARE UPDATE EXCLUSIVE")  # a dump, a change, a vacuum


def database_part(client: Client, mode: str, table: str) -> dict[str, object]:
    """Ask while another session holds a lock on a table."""
    with psycopg.connect(**database_watch.address()) as other:
        other.execute(f"LOCK TABLE {table} IN {mode} MODE")
        answer = client.get("/ready")
    found: dict[str, object] = answer.json()["parts"]["database"]
    return found


@pytest.mark.django_db
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("table", readiness.WRITTEN)
def test_a_table_that_takes_no_writes_is_named_as_locked(client: Client, table: str, mode: str) -> None:
    assert database_part(client, mode, table) == {"ok": False, "mend": readiness.ENDED}
    assert client.get("/ready").json()["parts"]["database"] == {"ok": True}


@pytest.mark.django_db
@pytest.mark.parametrize("mode", HARMLESS)
def test_a_lock_that_holds_up_no_writes_is_none(client: Client, mode: str) -> None:
    for table in readiness.WRITTEN:
        assert database_part(client, mode, table) == {"ok": True}


@pytest.mark.django_db
def test_every_table_that_a_declaration_writes_is_looked_at() -> None:
    with building.house() as house, CaptureQueriesContext(connection) as asked:
        house.declare(type="major")
    written = {table for one in asked for table in WRITES.findall(one["sql"])}
    assert len(written) > 5
    assert sorted(written - set(readiness.WRITTEN)) == []

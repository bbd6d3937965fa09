"""Repeated statements are planned once per connection, and nothing else changes for callers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.db import connection

from config import database
from incidents.models import Incident, Person
from incidents.outages import database_watch
from incidents.outages.database_watch import Bounded
from stack.processes.guard import Guard
from stack.services import pgbouncer, services
from workflows.alerts import intake
from workflows.effects import effect_queue

DIRECT = "postgresql://a:b@db.test:5432/firekind"
AT = datetime(2026, 11, 21, 10, tzinfo=UTC)
OFTEN = database.PREPARED["prepare_threshold"] + 2


def options(*, pooled: bool) -> dict[str, Any]:
    """Return the options that Django's connections are made with."""
    made: dict[str, Any] = database.from_url(DIRECT, pooled=pooled)["OPTIONS"]
    return made


@pytest.mark.django_db
def test_a_query_that_comes_again_is_planned_once() -> None:
    for name in ("ann", "bea", "cem", "dan", "eva", "fay", "gus"):
        list(Person.objects.filter(name=name).values_list("email"))
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%%FROM \"incidents_person\"%%'"
        )
        assert cursor.fetchone() == (1,)


@pytest.mark.django_db
def test_any_value_may_come_next() -> None:
    for text in ("one", "", "percent % and \\ and 'quotes'", "x" * 300, "dé jà"):
        assert not Incident.objects.filter(title=text, pk__in=[1, 2]).exists()
    assert not Incident.objects.filter(pk__in=list(range(1, 500))).exists()


def test_none_is_prepared_behind_a_pooler_whose_sessions_are_everybodys() -> None:
    assert not {*database.PREPARED} & {*options(pooled=True)}
    assert {*database.PREPARED} <= {*options(pooled=False)}
    named = database.keywords(DIRECT).keys() - database.VANISHED.keys()
    assert named == {"dbname", "user", "password", "host", "port", "connect_timeout"}


@pytest.fixture
def beside(django_db_setup: None) -> Iterator[psycopg.Connection[Any]]:
    """Return another connection, which migrates while the tested one queries."""
    address = database.keywords(settings.FIREKIND.database_url) | {"dbname": connection.settings_dict["NAME"]}
    with psycopg.connect(**address, autocommit=True) as made:
        made.execute("CREATE TABLE prepared_widened (name varchar(5))")
        yield made
        made.execute("DROP TABLE prepared_widened")


@pytest.mark.parametrize("change", ["ALTER COLUMN name TYPE varchar(50)", "ALTER COLUMN name TYPE text"])
def test_a_column_that_a_newer_version_widens_ends_the_connections_that_know_it_as_it_was(
    beside: psycopg.Connection[Any], change: str
) -> None:
    with closing(Bounded.connect(beside.info.dsn, autocommit=True, prepare_threshold=1)) as asked:
        for _ in range(OFTEN):
            asked.execute("SELECT name FROM prepared_widened WHERE name = %s", ["a"])
        beside.execute(f"ALTER TABLE prepared_widened {change}")
        with pytest.raises(psycopg.OperationalError, match="planned"):
            asked.execute("SELECT name FROM prepared_widened WHERE name = %s", ["a"])
        assert asked.closed


@pytest.mark.parametrize("table", ["workflows_effect", "workflows_alert"])
@pytest.mark.usefixtures("django_db_setup")
def test_a_column_that_a_newer_version_adds_changes_nothing_for_a_statement_that_is_written_out(table: str) -> None:
    claims = {"at": AT, "lease": AT, "incident": 0, "limit": 1, "kinds": ["chat"]}
    news: dict[str, Any] = dict.fromkeys(("title", "service_id", "service", "priority", "url", "status_by"), "")
    news |= {"pager_id": "PADDED", "number": 1, "status": "triggered", "status_at": AT, "at": AT}
    asked = (effect_queue.TAKE, claims) if table == "workflows_effect" else (intake.NOTE, news)
    address = database.keywords(settings.FIREKIND.database_url) | {"dbname": connection.settings_dict["NAME"]}
    with closing(Bounded.connect(**address, autocommit=True, prepare_threshold=1)) as old:
        try:
            for _ in range(OFTEN):
                old.execute(*asked)
            with psycopg.connect(**address, autocommit=True) as newer:
                newer.execute(f"ALTER TABLE {table} ADD COLUMN added_later integer")
            old.execute(*asked)
        finally:
            old.execute(f"ALTER TABLE {table} DROP COLUMN IF EXISTS added_later")
            old.execute("DELETE FROM workflows_alert WHERE pager_id = 'PADDED'")


@pytest.mark.slow
@pytest.mark.skipif(pgbouncer.find() is None, reason="PgBouncer is not installed (apt-get install pgbouncer)")
@pytest.mark.usefixtures("django_db_setup")
@pytest.mark.parametrize("autocommit", [True, False])
def test_a_pooler_that_nobody_named_is_noticed(autocommit: bool, tmp_path: Path) -> None:
    guard, server = Guard(), Path(database_watch.address()["host"])
    with services.sockets(tmp_path) as sockets, ExitStack() as opened:
        pooler = pgbouncer.start(sockets / "pool", sockets=server, size=2, guard=guard)
        opened.callback(pooler.server.stop)
        several = [_connected(pooler.url, opened, autocommit=autocommit) for _ in range(3)]
        for n in range(OFTEN * 3):
            with several[n % 3].transaction(), several[(n + 1) % 3].transaction():
                assert several[n % 3].execute("SELECT 1 + %s", [n]).fetchone() == (1 + n,)
                assert several[(n + 1) % 3].execute("SELECT 2 + %s", [n]).fetchone() == (2 + n,)
    guard.close()


def _connected(url: str, opened: ExitStack, *, autocommit: bool) -> Bounded:
    made = Bounded.connect(**database.keywords(url), autocommit=autocommit, prepare_threshold=1)
    return opened.enter_context(closing(made))

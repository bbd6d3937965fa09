"""Regular tasks read no more rows when there are more incidents that ended long ago and were planned."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone
from psycopg import sql

from audit.sealed import rows, sealing
from audit.sealed.rows import KEPT
from config.celery import app
from config.process.looks import REGULAR
from incidents.claiming import glance
from incidents.claiming.glance import Glance
from incidents.models import Incident
from integrations.tests import house as building
from stack import seed
from workflows.alerts import poll_alerts
from workflows.models import Alert, Page
from workflows.paging import poll_pages

RowsRead = tuple[int, str]  # how many, and by which statement

FEW, MORE = 300, 900
LONG_AGO = timedelta(days=60)
GLANCE = "glance"  # at what all of them act on; an idle worker runs only this
PERIODIC = [*sorted(REGULAR), GLANCE]
SEALED = 20_000
ENTRIES = """
    INSERT INTO audit_entry (n, at, kind, by_name, about, door, address, data)
    OVERRIDING SYSTEM VALUE SELECT n, now(), 'sign-in', '', '', 'web', '', '{}' FROM generate_series(1, %s) AS n
"""

pytestmark = pytest.mark.django_db


@pytest.fixture
def _house(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # Chain links stay open during any transaction on the server, and those of parallel tests are not ours. They also
    # stay open for a while, which ends between the two measurements on a slow machine but not on a fast one.
    monkeypatch.setattr(sealing, "_BEGUN", "SELECT 0::bigint")
    monkeypatch.setattr(sealing, "NUMBERED_FOR", timedelta(0))
    app.loader.import_default_modules()
    with building.house() as house:
        # The workspace has none of the channels. Finding each of them gone would be recorded once, for some of them
        # already.
        house.slack.faults.add("error", method="conversations.info", error="missing_scope")
        yield


@pytest.mark.usefixtures("_house")
def test_no_periodic_look_grows_with_incidents_that_ended_long_ago() -> None:
    fill(FEW)
    few = {name: _rows_read(name) for name in PERIODIC}
    fill(MORE - FEW)
    more = {name: _rows_read(name) for name in PERIODIC}
    grown = {name: more[name] for name in PERIODIC if total(more[name]) > total(few[name]) + 5}
    assert not grown, f"rows that statements read over {MORE} incidents: {grown}"


@pytest.mark.usefixtures("_house")
def test_looking_for_reopened_pages_reads_none_that_ended_long_ago() -> None:
    fill(FEW, lives=True)
    read: list[RowsRead] = []
    with connection.execute_wrapper(explaining(read)):
        found = list(poll_pages.may_be_reopened(at=timezone.now()))
    assert Page.objects.filter(status="resolved").exclude(pager_id="").count() > FEW / 10
    assert total(read) <= 5 + len(found), read


@pytest.mark.usefixtures("_house")
@pytest.mark.parametrize("looks", [poll_alerts.open_ones, poll_alerts.ended])
def test_looking_at_alerts_reads_none_of_incidents_that_ended(looks: Callable[..., QuerySet[Alert]]) -> None:
    fill(FEW)
    at = timezone.now()
    ids = list(Incident.objects.values_list("pk", flat=True))
    Alert.objects.bulk_create(Alert(pager_id=f"Q{n}", title="Errors", at=at, status_at=at, incident_id=n) for n in ids)
    Incident.objects.filter(pk=ids[0]).update(status="open", ended_at=None)
    Alert.objects.filter(incident_id=ids[1]).update(status="resolved")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    read: list[RowsRead] = []
    with connection.execute_wrapper(explaining(read)):
        found = list(looks(at=at))
    assert [one.incident_id for one in found] == (ids[:1] if looks is poll_alerts.open_ones else [])
    assert total(read) <= 5, read


@pytest.mark.parametrize("gaps", [[(SEALED + 1, 1 << 62)], [(7, 7), (SEALED - 5, SEALED - 3), (SEALED + 1, 1 << 62)]])
def test_sealing_reads_nothing_of_what_is_sealed_but_its_gaps(gaps: list[tuple[int, int]]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(ENTRIES, [SEALED])
        cursor.execute("ANALYZE audit_entry")
    read: list[RowsRead] = []
    with connection.execute_wrapper(explaining(read)):
        found = rows.in_gaps(KEPT["entries"], gaps, limit=sealing.BATCH)
    assert [one.id for one in found] == [id for low, high in gaps for id in range(low, min(high, SEALED) + 1)]
    assert total(read) <= len(found) + len(gaps), "rows that scans touch"


def fill(incidents: int, *, lives: bool = False) -> None:
    connection.ensure_connection()
    database: Any = connection.connection
    amount = seed.Amount(incidents=incidents, events=3, people=30, active=0, lives=lives)
    seed.fill(database, amount, at=timezone.now() - LONG_AGO)
    with connection.cursor() as cursor:
        # Other tests have left dead rows in small indexes, which would make other plans look as cheap.
        for table in connection.introspection.django_table_names(only_existing=True):
            cursor.execute(sql.SQL("REINDEX TABLE {}").format(sql.Identifier(table)))
        cursor.execute("ANALYZE")
        # PostgreSQL reads small tables as a whole although there is an index; large ones must not be. So each row is
        # made as expensive as in a large table, or the plan would depend on other tests' dead rows.
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL cpu_tuple_cost = 10")


def _rows_read(task: str) -> list[RowsRead]:
    """Count the rows that scans in a task's statements touch, after it has done what there was to do."""
    take = _glance if task == GLANCE else app.tasks[task]
    take()
    read: list[RowsRead] = []
    with connection.execute_wrapper(explaining(read)):
        take()
    return read


def _glance() -> None:
    Glance({(task, name): look for task, of in glance.LOOKS.items() for name, look in of.items()})(at=timezone.now())


def total(read: list[RowsRead]) -> int:
    """Add up the rows."""
    return sum(rows for rows, _ in read)


def explaining(read: list[RowsRead]) -> Any:
    """Record the rows that scans in each statement touch."""

    def explain(execute: Any, statement: str, params: Any, many: bool, context: Any) -> Any:
        if not many and statement.lstrip()[:6].upper() in {"SELECT", "UPDATE", "DELETE", "WITH  "}:
            read.append((_explained(statement, params), statement))
        return execute(statement, params, many, context)

    return explain


def _explained(statement: str, params: Any) -> int:
    raw: Any = connection.connection
    with raw.cursor() as cursor:
        cursor.execute("SAVEPOINT explained")
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", params)
        (found,) = cursor.fetchone()
        cursor.execute("ROLLBACK TO SAVEPOINT explained")
    return sum(_scanned(found[0]["Plan"]))


def _scanned(node: dict[str, Any]) -> Iterator[int]:
    if "Scan" in node["Node Type"]:
        removed = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
        yield round((node["Actual Rows"] + removed) * node["Actual Loops"])
    for below in node.get("Plans", ()):
        yield from _scanned(below)

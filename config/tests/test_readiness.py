"""Whether an incident declared now would be carried out, for monitoring."""

from __future__ import annotations

import threading

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from config.http import readiness
from config.process import broker_probe
from incidents.outages import database_watch, migrated
from incidents.tests.ended import CUT_SHORT, ended
from workflows.status import workers


@pytest.mark.django_db
def test_ready_names_what_is_missing_and_how_to_mend_it(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker_probe, "error", OSError)
    answer = client.get("/ready")
    parts = answer.json()["parts"]
    assert (answer.status_code, answer.json()["ready"]) == (503, False)
    assert {name: part["ok"] for name, part in parts.items()} == {
        "database": True,
        "broker": False,
        "migrations": True,
        "worker": False,
        "evidence": False,
    }
    assert all(part["mend"] for part in parts.values() if not part["ok"])

    workers.say_alive("worker@host:1", kind="worker", alone_since=None, at=timezone.now())
    assert client.get("/ready").status_code == 200, "without the others everything is carried out, if later"


@pytest.mark.django_db
def test_a_broker_that_takes_its_time_holds_up_nobody_who_asks(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    over, asked = threading.Event(), list[int]()

    def silent() -> None:
        asked.append(1)
        over.wait(60)

    monkeypatch.setattr(broker_probe, "error", silent)
    monkeypatch.setattr(readiness, "BROKER_S", 0.05)
    try:
        answers = [client.get("/ready").json()["parts"]["broker"]["ok"] for _ in range(3)]
        assert (answers, len(asked)) == ([False] * 3, 1)
    finally:
        over.set()
    monkeypatch.setattr(readiness, "BROKER_S", 60)
    assert client.get("/ready").json()["parts"]["broker"]["ok"]


@pytest.mark.django_db
def test_what_is_not_known_is_not_said_to_be_wrong(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """No one is told to migrate a database, or to start workers, because the database is away."""
    monkeypatch.setattr(database_watch, "is_away", lambda: True)
    parts = client.get("/ready").json()["parts"]
    assert "PostgreSQL" in parts["database"]["mend"]
    assert {name: part["mend"] for name, part in parts.items() if name not in {"database", "broker"}} == dict.fromkeys(
        ("migrations", "worker", "evidence"), readiness.UNKNOWN
    )


@pytest.mark.django_db
def test_a_database_that_is_read_only_is_not_said_to_be_away(client: Client) -> None:
    """No one is told to start PostgreSQL, nor workers, whose reports it does not take."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL transaction_read_only = on")
    answer = client.get("/ready")
    parts = answer.json()["parts"]
    assert answer.status_code == 503
    assert "read-only" in parts["database"]["mend"]
    assert "start" not in parts["database"]["mend"]
    assert parts["worker"]["mend"] == readiness.UNKNOWN


@pytest.mark.django_db
def test_a_database_that_lets_nobody_in_is_not_said_to_be_away(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_watch, "is_away", lambda: True)
    monkeypatch.setattr(database_watch, "refuses", lambda: True)
    mend = client.get("/ready").json()["parts"]["database"]["mend"]
    assert "refuses new connections" in mend
    assert "doctor" in mend


@pytest.mark.django_db
def test_a_database_of_another_version_is_all_that_is_said(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrated, "is_migrated", lambda: False)
    parts = client.get("/ready").json()["parts"]
    assert "prepare" in parts["migrations"]["mend"]
    assert parts["worker"]["mend"] == parts["evidence"]["mend"] == readiness.UNKNOWN


@pytest.mark.django_db
def test_a_database_that_refuses_is_not_said_to_be_away(client: Client) -> None:
    """As after a migration whose tables the role has no grants for; no one is told to start PostgreSQL."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE ROLE role_without_rights")
        cursor.execute("GRANT SELECT ON django_migrations TO role_without_rights")
        cursor.execute("SET ROLE role_without_rights")
        answer = client.get("/ready")
    assert answer.status_code == 503
    parts = answer.json()["parts"]
    assert parts["database"]["mend"] == readiness.REFUSED
    assert parts["worker"]["mend"] == readiness.UNKNOWN


@pytest.mark.django_db
@pytest.mark.parametrize("state", sorted(CUT_SHORT))
def test_a_database_that_ends_a_statement_is_not_said_to_be_away(client: Client, state: str) -> None:
    """As while someone holds a lock: the server answers, and no one is told to start it."""
    at, happened = 0, True
    while happened:
        with ended(state, at=at) as seen:
            parts = client.get("/ready").json()["parts"]
        at, happened = at + 1, seen.happened
        assert parts["database"] in ({"ok": True}, {"ok": False, "mend": readiness.ENDED})
        assert happened == (parts["database"] != {"ok": True})
    assert at > 2

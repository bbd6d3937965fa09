"""What people and programs are told while the database is away, slow, or not migrated yet."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import psycopg
import pytest
from django.db import Error, connection
from django.test import RequestFactory

from incidents.forms import given_words
from incidents.outages import database_watch, migrated, outage_answer, runbook
from incidents.tests.ended import CUT_SHORT, DAMAGED


@pytest.mark.parametrize(
    ("cause", "to_blame"),
    [
        (psycopg.errors.AdminShutdown(), True),
        (psycopg.errors.ConnectionFailure(), True),
        (psycopg.OperationalError(), True),
        (psycopg.errors.TooManyConnections(), True),
        (psycopg.errors.DiskFull(), True),
        (psycopg.errors.IoError(), True),
        (psycopg.errors.ReadOnlySqlTransaction(), True),
        (psycopg.errors.LockNotAvailable(), True),
        (psycopg.errors.DeadlockDetected(), True),
        (psycopg.InternalError("received 2 results from command 'COMMIT'"), True),
        (psycopg.errors.SerializationFailure(), True),
        (psycopg.errors.QueryCanceled(), True),
        (psycopg.errors.IdleInTransactionSessionTimeout(), True),
        (psycopg.errors.DataCorrupted(), False),
        (psycopg.errors.NumericValueOutOfRange(), False),
    ],
)
def test_what_the_statement_did_is_not_the_servers_fault(
    cause: Exception, to_blame: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_watch, "answers", lambda: True)
    with pytest.raises(Error) as raised, connection.wrap_database_errors:
        raise cause
    assert database_watch.is_to_blame(raised.value) is to_blame
    assert not database_watch.is_to_blame(ValueError())


@pytest.mark.parametrize("state", CUT_SHORT, ids=CUT_SHORT.values())
@pytest.mark.parametrize("path", ["/", "/pagerduty/webhook", "/api/v1/x"])
def test_what_a_server_that_is_well_ended_is_said_to_be_cancelled(
    state: str, path: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(database_watch, "answers", lambda: pytest.fail("it answered that very moment"))
    error: Exception = psycopg.errors.lookup(state)()
    assert database_watch.is_to_blame(error)
    assert f"ended with {state}" in caplog.text
    assert "cancelled" in outage_answer.answer(path, error).content.decode()
    assert "cancelled" not in outage_answer.answer(path).content.decode()
    assert outage_answer.in_slack(error).startswith(outage_answer.ENDED)


@pytest.mark.parametrize("state", ["25006", "53100"])
@pytest.mark.parametrize("path", ["/", "/pagerduty/webhook", "/api/v1/x"])
def test_a_server_that_is_read_only_or_full_is_not_said_to_be_silent(state: str, path: str) -> None:
    error: Exception = psycopg.errors.lookup(state)()
    answer = outage_answer.answer(path, error)
    assert (answer.status_code, "Retry-After" in answer) == (503, True)
    assert "accepts no changes" in answer.content.decode()
    assert outage_answer.in_slack(error).startswith(outage_answer.UNCHANGED)


@pytest.mark.parametrize("state", DAMAGED, ids=DAMAGED.values())
@pytest.mark.parametrize("path", ["/", "/pagerduty/webhook", "/api/v1/x"])
def test_a_server_whose_data_or_index_is_damaged_is_said_to_be_that(
    state: str, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    error: Exception = psycopg.errors.lookup(state)()
    assert outage_answer.is_excuse(error)
    assert f"damaged ({state})" in caplog.text
    answer = outage_answer.answer(path, error)
    assert (answer.status_code, "Retry-After" in answer) == (503, True)
    assert "damaged" in answer.content.decode()
    assert outage_answer.in_slack(error).startswith(outage_answer.DAMAGED)
    assert not database_watch.says_so(error), "others' rows can be read: workers go on with them"


@pytest.fixture
def unmigrated(monkeypatch: pytest.MonkeyPatch, db: None) -> Iterator[None]:
    """Remove migrations of this version from the database's record, as if it had not been migrated yet."""
    monkeypatch.setattr(migrated, "_migrated", [])
    monkeypatch.setattr(migrated, "_missed_at", [])
    with psycopg.connect(**database_watch.address(), autocommit=True) as database:
        taken = database.execute("DELETE FROM django_migrations WHERE app = 'reviews' RETURNING app, name, applied")
        rows = taken.fetchall()
        yield
        for row in rows:
            database.execute("INSERT INTO django_migrations (app, name, applied) VALUES (%s, %s, %s)", row)


UNDEFINED: Final = [psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn]


@pytest.mark.usefixtures("unmigrated")
@pytest.mark.parametrize("missed", UNDEFINED)
@pytest.mark.parametrize("path", ["/", "/pagerduty/webhook", "/api/v1/x"])
def test_what_is_asked_before_anyone_migrated_is_said_to_be_too_early(
    path: str, missed: type[Exception], caplog: pytest.LogCaptureFixture
) -> None:
    error = missed()
    assert outage_answer.is_excuse(error)
    answer = outage_answer.answer(path, error)
    assert (answer.status_code, "Retry-After" in answer) == (503, True)
    assert "ready for this version" in answer.content.decode()
    assert outage_answer.in_slack(error).startswith(outage_answer.BEHIND)
    assert caplog.text.count("prepare") == 1


@pytest.mark.django_db
@pytest.mark.parametrize("missed", UNDEFINED)
def test_a_column_that_we_misspelt_is_a_slip_of_ours(missed: type[Exception]) -> None:
    assert not outage_answer.is_excuse(missed())


@pytest.mark.parametrize(
    ("text", "public", "text_of_all"),
    [
        ("", runbook.BY_HAND, runbook.BY_HAND),
        ("Call Ada.", "Call Ada.", "Call Ada."),
        ("Call Ada.\n---\nPIN 4711\n", "Call Ada.", "Call Ada.\n\nPIN 4711"),
        ("---\nPIN 4711", runbook.BY_HAND, "PIN 4711"),
    ],
)
def test_what_stands_below_the_dashes_is_for_slack_alone(text: str, public: str, text_of_all: str) -> None:
    assert runbook.read(text) == runbook.Runbook(text=text_of_all, public=public)


def test_a_runbook_is_read_again_and_kept_when_it_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runbook, "LOOK_S", 0.0)
    path = tmp_path / "by-hand.txt"
    path.write_text("Call Ada.")
    file = runbook.RunbookFile(path)
    assert file.current().text == "Call Ada."
    path.write_text("Call Grace.")
    os.utime(path, (1, 1))
    assert file.current().text == "Call Grace."
    path.unlink()
    assert file.current().text == "Call Grace."


@pytest.mark.parametrize(
    ("path", "kind"), [("/", "text/html"), ("/pagerduty/webhook", "text/plain"), ("/api/v1/x", "application/json")]
)
def test_everyone_is_asked_to_come_back(path: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_watch, "is_away", lambda: True)
    pages = outage_answer.Outages(lambda _: pytest.fail("no page is asked for"))
    response = pages(RequestFactory().get(path))
    assert (response.status_code, response["Retry-After"]) == (503, "15")
    assert response["Content-Type"].startswith(kind)


@pytest.mark.parametrize("scripts", [False, True])
@pytest.mark.parametrize("away", [False, True])
def test_who_sent_a_form_gets_their_words_back_unless_scripts_have_kept_them(
    away: bool, scripts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_watch, "is_away", lambda: away)
    cookies = {"HTTP_COOKIE": f"{given_words.ZONE}=UTC"} if scripts else {}
    form = RequestFactory(HTTP_ORIGIN="http://testserver", **cookies)  # type: ignore[arg-type]
    sent = form.post("/declare", urlencode({"title": "<i>Slow"}), content_type="application/x-www-form-urlencoded")
    response = outage_answer.Outages(outage_answer.failed)(sent)
    assert response.status_code == (503 if away else 500)
    assert ("&lt;i&gt;Slow" in str(getattr(response, "content", ""))) != scripts
    cut_off = form.post("/declare", b"title=" + b"x" * 30_000_000, content_type="application/x-www-form-urlencoded")
    assert outage_answer.Outages(outage_answer.failed)(cut_off).status_code == response.status_code

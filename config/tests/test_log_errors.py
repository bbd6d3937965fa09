"""The message of an unexpected error stays out of every log, because it may quote what people wrote."""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Final

import psycopg
import pytest
from celery import Celery
from celery.app.trace import build_tracer
from django.core.handlers.exception import response_for_exception
from django.db import IntegrityError, connection
from django.test import RequestFactory

from config import env, logs
from config.tests.test_env import GIVEN
from incidents.models import Person
from incidents.outages import database_watch

WORDS: Final = "Acme leaks\ncard numbers"
Logged = Callable[[Exception], None]


@contextmanager
def heard(form: str) -> Iterator[StringIO]:
    """Log as a process does, and return what was written."""
    written = StringIO()
    given = logs.written(form)
    handler = logging.StreamHandler(written)
    formatter = dict(given["formatters"][form])
    handler.setFormatter(formatter.pop("()")(**formatter))
    handler.addFilter(given["filters"]["outages"]["callback"])
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        yield written
    finally:
        root.removeHandler(handler)


def by_django(error: Exception) -> None:
    caught(error, lambda: response_for_exception(RequestFactory().get("/incidents/"), error))


def by_celery(error: Exception) -> None:
    app = Celery("tried", set_as_current=False, fixups=[])

    @app.task(name="tried", shared=False)  # with no other app, which may not be set up completely yet
    def tried() -> None:
        raise error

    build_tracer("tried", tried, app=app)("id", [], {}, {"id": "id", "task": "tried", "hostname": "here"})


def by_bolt(error: Exception) -> None:
    bolt = importlib.import_module("slack_bolt.listener.listener_error_handler")  # only Slack's folder imports it
    handler = bolt.DefaultListenerErrorHandler(logging.getLogger("slack_bolt.App"))
    caught(error, lambda: handler.handle(error, None, None))


def by_asyncio(error: Exception) -> None:
    async def fails() -> None:
        raise error

    async def leave() -> None:
        task = asyncio.create_task(fails())
        await asyncio.sleep(0)
        asyncio.get_running_loop().call_exception_handler(
            {"message": "Task exception was never retrieved", "future": task, "exception": task.exception()}
        )

    asyncio.run(leave())


def by_a_future(error: Exception) -> None:
    def fails(_: object) -> None:
        raise error

    done = Future[None]()
    done.add_done_callback(fails)
    done.set_result(None)


def by_us(error: Exception) -> None:
    caught(error, lambda: logging.getLogger("workflows.tried").error("effect %s was interrupted", 7, exc_info=error))


def caught(error: Exception, log: Callable[[], object]) -> None:
    """Log where the error was just caught."""
    try:
        fail(error)
    except type(error):
        log()


def fail(error: Exception) -> None:
    raise error


def caused(error: Exception) -> Exception:
    """Return an error that was caused by another one, and whose own message is harmless."""
    second = RuntimeError("it broke")
    second.__cause__ = error
    return second


ERRORS: Final[dict[str, Callable[[], Exception]]] = {
    "a value": lambda: ValueError(f"invalid literal for int() with base 10: {WORDS!r}"),
    "words alone": lambda: LookupError(WORDS),
    "a key": lambda: KeyError(WORDS),
    "a file": lambda: FileNotFoundError(2, "No such file or directory", WORDS),
    "several": lambda: ExceptionGroup(WORDS, [ValueError(WORDS), KeyError(WORDS)]),
    "another's": lambda: caused(ValueError(WORDS)),
}
LOGGERS: Final[dict[str, Logged]] = {
    "django": by_django,
    "celery": by_celery,
    "bolt": by_bolt,
    "asyncio": by_asyncio,
    "a future": by_a_future,
    "us": by_us,
}


@pytest.mark.parametrize("form", logs.FORMS)
@pytest.mark.parametrize("logged", LOGGERS)
@pytest.mark.parametrize("what", ERRORS)
def test_what_an_error_says_is_in_no_line(what: str, logged: str, form: str) -> None:
    with heard(form) as written:
        LOGGERS[logged](ERRORS[what]())
    lines = written.getvalue()
    assert type(ERRORS[what]()).__name__ in lines
    assert "Acme" not in lines
    assert "card numbers" not in lines


@pytest.mark.django_db
@pytest.mark.parametrize("logged", LOGGERS)
def test_what_the_database_quotes_is_in_no_line_and_what_it_refused_by_is(logged: str) -> None:
    Person.objects.create(name="Ada", email="ada@acme.example")
    with heard("json") as written:
        with pytest.raises(IntegrityError, match="Key") as refused, connection.cursor() as cursor:
            cursor.execute("INSERT INTO incidents_person SELECT * FROM incidents_person")
        LOGGERS[logged](refused.value)
    lines = written.getvalue()
    assert "23505 incidents_person" in lines
    assert "Key (" not in lines
    assert "ada@acme" not in lines
    assert [json.loads(one) for one in lines.splitlines()]


@pytest.mark.django_db
@pytest.mark.parametrize("form", logs.FORMS)
@pytest.mark.parametrize("logged", LOGGERS)
def test_what_a_statement_was_given_is_in_no_line_when_the_server_ends_it(logged: str, form: str) -> None:
    """An operator may have the server quote values in its errors, which applications get as well."""
    with psycopg.connect(**database_watch.address(), autocommit=True) as quoting:
        quoting.execute("SET log_parameter_max_length_on_error = -1")
        quoting.execute("SET statement_timeout = 20")
        with pytest.raises(psycopg.errors.QueryCanceled, match="Acme") as ended:
            quoting.execute("SELECT FROM pg_sleep(60) WHERE %s <> ''", [WORDS])
    with heard(form) as written:
        LOGGERS[logged](ended.value)
    lines = written.getvalue()
    assert lines
    assert "Traceback" not in lines
    assert "Acme" not in lines
    assert "card numbers" not in lines


def test_an_error_whose_words_are_codes_keeps_them() -> None:
    assert logs.told(AttributeError("'NoneType' object has no attribute 'room'")).endswith("attribute 'room'")
    assert logs.told(OSError(28, "No space left on device")).endswith("OSError: No space left on device")
    assert logs.told(psycopg.OperationalError("the server says: Acme")).endswith("OperationalError")


def test_what_a_connection_pool_repeats_while_the_database_is_down_is_logged_once_a_minute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each process tries every half second or so."""
    now = [time.monotonic() + 1000]
    monkeypatch.setattr(logs, "time", SimpleNamespace(monotonic=lambda: now[0]))
    pool = logging.getLogger("psycopg.pool")
    with heard("line") as written:
        for second in range(121):
            pool.warning("error connecting in %r: %s", "pool-1", f"refused {second}")
            pool.warning("reconnection attempt in pool %r failed after %s sec", "pool-1", 1.0)
            now[0] += 1
    lines = written.getvalue().splitlines()
    assert [one.rpartition(" ")[2] for one in lines if "error connecting" in one] == ["0", "60", "120"]
    assert len(lines) == 6


def test_what_ends_a_thread_is_logged_like_everything_else(tmp_path: Path) -> None:
    given = {**os.environ, **dict.fromkeys(env.NAMES, ""), **GIVEN, "LOG_FORMAT": "json"}
    given |= {"FIREKIND_DATA_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "config.settings"}
    words = [
        "import django; django.setup()",
        "from threading import Thread",
        "Thread(target=int, args=['Acme leaks']).start()",
    ]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(words)], env=given, cwd=env.ROOT, capture_output=True, text=True, check=False
    )
    (line,) = done.stderr.splitlines()
    assert json.loads(line)["traceback"].endswith("ValueError")
    assert "Acme" not in line

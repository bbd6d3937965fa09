"""The pool keeps nobody beyond their time, and commands that no thread can begin are answered in time."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.db import OperationalError, connections
from django.http import HttpRequest, HttpResponse
from django.test import override_settings
from django.urls import path
from psycopg_pool import PoolTimeout

from config.http import serving
from config.http.serving import Application
from config.postgresql.base import DatabaseWrapper, ImpatientPool
from config.tests.small_pool import small_pool
from config.tests.test_serving import scope
from incidents.outages import answer_time, database_watch, unserved
from stack.outside import until

Talk: Any = ApplicationCommunicator  # it comes without types
FORM = "application/x-www-form-urlencoded"
let_go = threading.Event()
begun: list[str] = []


def look(request: HttpRequest, who: str) -> HttpResponse:
    if not answer_time.left_s():
        return HttpResponse(b"too late")
    begun.append(who)
    assert let_go.wait(60)
    return HttpResponse(b"done")


urlpatterns = [path("slack/<who>", look)]


@pytest.fixture
def alone(db: None) -> Iterator[DatabaseWrapper]:
    """Django's backend by our settings, with one connection, which is lent out."""
    with small_pool(1, alias="alone") as made:
        lent = made.pool.getconn()
        yield made
        made.pool.putconn(lent)


@pytest.fixture
def pool(alone: DatabaseWrapper) -> ImpatientPool:
    """Its pool."""
    assert isinstance(alone.pool, ImpatientPool)
    return alone.pool


def test_django_uses_it() -> None:
    assert isinstance(connections["default"], DatabaseWrapper)


def test_who_cannot_wait_is_told_at_once_that_it_took_too_long(pool: ImpatientPool) -> None:
    pool.timeout = 3600
    with answer_time.until(time.monotonic()), pytest.raises(unserved.TooSlow):
        pool.getconn()
    with answer_time.until(time.monotonic() + 0.01), pytest.raises(unserved.TooSlow):
        pool.getconn()
    with answer_time.until(time.monotonic()), pytest.raises(unserved.TooSlow):
        pool.getconn(timeout=3600)


def test_others_wait_as_long_as_the_pool_says(pool: ImpatientPool) -> None:
    with pytest.raises(PoolTimeout):
        pool.getconn()
    with answer_time.until(time.monotonic() + 3600), pytest.raises(PoolTimeout):
        pool.getconn()


def test_it_is_the_databases_fault_but_no_outage(alone: DatabaseWrapper) -> None:
    with answer_time.until(time.monotonic()), pytest.raises(OperationalError) as raised:
        alone.ensure_connection()
    assert unserved.was_too_slow(raised.value)
    assert database_watch.is_to_blame(raised.value)
    assert not database_watch.is_away()


def test_commands_that_no_thread_begins_in_time_are_answered_and_never_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_time, "SLACK_S", 60)
    let_go.clear()
    begun.clear()

    async def come() -> list[bytes]:
        application = Application()
        first = [await command(application, f"first{n}") for n in range(serving.COMMANDS)]
        await asyncio.to_thread(until, lambda: len(begun) == serving.COMMANDS, what="some threads begin nothing")
        monkeypatch.setattr(answer_time, "SLACK_S", 0.1)
        later = [await command(application, f"later{n}") for n in range(5)]
        said = [await answered(one) for one in later]  # while the first hold every thread
        let_go.set()
        return said + [await answered(one) for one in first]

    with override_settings(ROOT_URLCONF=__name__, MIDDLEWARE=[]):
        assert asyncio.run(come()) == [b"too late"] * 5 + [b"done"] * serving.COMMANDS
    assert sorted(begun) == [f"first{n}" for n in range(serving.COMMANDS)]


async def command(application: Application, who: str) -> Any:
    talk = Talk(application, scope(f"/slack/{who}", method="POST", kind=FORM))
    await talk.send_input({"type": "http.request", "body": b""})
    return talk


async def answered(talk: Any) -> bytes:
    await talk.receive_output(30)
    said = (await talk.receive_output(30))["body"]
    await talk.wait(60)
    return bytes(said)

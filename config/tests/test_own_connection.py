"""A worker says that it is alive while all of its other threads wait for the same row."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, OperationalError, connections
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from config.database import POOL
from config.http.serving import Application
from config.process import own_connection
from incidents.outages import database_watch
from workflows.models import WorkerProcess
from workflows.status import workers

MOST, POOLED = 3, "test pool"


def pooled(alias: str = POOLED) -> Any:
    """Return a wrapper around a pool of few connections; all wrappers of one alias share its pool."""
    ours = connections[DEFAULT_DB_ALIAS]
    pool = {**POOL, "max_size": MOST, "timeout": 0.2}
    return type(ours)({**ours.settings_dict, "OPTIONS": {**ours.settings_dict["OPTIONS"], "pool": pool}}, alias)


@pytest.fixture
def exhausted(erasable: None, transactional_db: None) -> Iterator[None]:
    """Use a pool whose connections are all in use."""
    before, made = connections[DEFAULT_DB_ALIAS], pooled()
    holders = [pooled() for _ in range(MOST)]
    for one in holders:
        connections[POOLED] = one
        one.ensure_connection()
    connections[POOLED] = connections[DEFAULT_DB_ALIAS] = made
    yield
    connections[DEFAULT_DB_ALIAS] = before
    del connections[POOLED]
    for one in [*holders, made]:
        one.close()
    for alias in (POOLED, "heartbeats"):
        pooled(alias).close_pool()


def say_alive() -> None:
    workers.say_alive("one", kind="worker", alone_since=None, at=timezone.now())


def test_a_heartbeat_gets_through_when_all_connections_are_in_use(exhausted: None) -> None:
    with pytest.raises(OperationalError):
        say_alive()
    for _ in range(2):
        with own_connection.kept_for("heartbeats"):
            say_alive()
            assert WorkerProcess.objects.filter(name="one").exists()
    with pytest.raises(OperationalError):
        say_alive()


def test_only_this_thread_uses_it(exhausted: None) -> None:
    elsewhere: list[str] = []
    with own_connection.kept_for("heartbeats"):
        thread = threading.Thread(target=lambda: elsewhere.append(connections[DEFAULT_DB_ALIAS].alias))
        thread.start()
        thread.join()
        assert connections[DEFAULT_DB_ALIAS].alias == "heartbeats"
    assert elsewhere == [DEFAULT_DB_ALIAS]
    assert connections[DEFAULT_DB_ALIAS].alias == POOLED


def test_without_a_pool_nothing_changes(db: None) -> None:
    before = connections[DEFAULT_DB_ALIAS]
    with own_connection.kept_for("heartbeats"):
        assert connections[DEFAULT_DB_ALIAS] is before


@contextmanager
def unopened(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Any, pytest.MonkeyPatch]]:
    """Use a pool that no one has opened, on a machine that can start no thread until the patch is undone."""

    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    before, made = connections[DEFAULT_DB_ALIAS], pooled()
    connections[POOLED] = connections[DEFAULT_DB_ALIAS] = made
    try:
        with monkeypatch.context() as full:
            full.setattr(threading.Thread, "start", start)
            yield made, full
    finally:
        connections[DEFAULT_DB_ALIAS] = before
        del connections[POOLED]
        made.close()
        pooled().close_pool()


def test_a_pool_whose_own_threads_could_not_be_started_is_given_up_for_another(
    erasable: None, transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It counts as open, and would have no connection until the process is restarted."""
    with unopened(monkeypatch) as (made, full):
        with pytest.raises(RuntimeError):
            made.ensure_connection()
        full.undo()
        with pytest.raises(OperationalError) as failed:
            made.ensure_connection()
        assert database_watch.is_to_blame(failed.value)
        made.ensure_connection()


def get(path: str) -> HttpResponse:
    client = Client(raise_request_exception=False)
    client.cookies[settings.SESSION_COOKIE_NAME] = "x" * 32
    answer: HttpResponse = client.get(path)  # type: ignore[assignment]  # with more attributes
    return answer


def sends_a_file(path: str) -> HttpResponse:
    headers = [(b"authorization", f"Bearer fk_{'x' * 43}".encode())]
    refused = Application()._ask({"type": "http", "path": path, "method": "POST", "headers": headers})
    assert refused is not None
    return refused


@pytest.mark.parametrize(("ask", "path"), [(get, "/"), (get, "/ready"), (sends_a_file, "/v1development/profiles")])
def test_whoever_opens_the_pool_while_no_thread_can_be_had_is_told_what_to_do(
    ask: Callable[[str], HttpResponse],
    path: str,
    erasable: None,
    transactional_db: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with unopened(monkeypatch) as (made, full):
        told = ask(path)
        full.undo()
        assert told.status_code == 503
        made.ensure_connection()
    assert "Firekind's machine has no thread to spare" in told.content.decode().replace("&#x27;", "'")

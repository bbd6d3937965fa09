"""A web process notifies the leads once several looks in a row have found no worker."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from config.http import worker_watch
from incidents.outages import database_watch
from incidents.outages.breaker import Breaker
from workflows.status import workers

SINCE = datetime(2026, 11, 22, tzinfo=UTC)


@pytest.mark.parametrize(
    ("looks", "tells"),
    [("gggggg", 1), ("ggg.ggg.", 0), ("gggg.gggg", 2), ("....", 0)],
)
def test_it_tells_once_of_each_time(looks: str, tells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    left, told, measured = list(looks), list[datetime](), list[int]()

    def look() -> datetime | None:
        if not left:
            raise EOFError
        return SINCE if left.pop(0) == "g" else None

    def tell(since: datetime) -> bool:
        told.append(since)
        return True

    monkeypatch.setattr(worker_watch, "LOOK_S", 0.0)
    monkeypatch.setattr(worker_watch, "_gone_since", look)
    monkeypatch.setattr(worker_watch, "_tell", tell)
    monkeypatch.setattr(worker_watch, "_measure", lambda: measured.append(len(left)))
    with ThreadPoolExecutor(1) as threads, suppress(EOFError):
        asyncio.run(worker_watch.watch(threads))
    assert len(told) == tells
    assert measured == [len(looks)], "it asks first how far its clock is off"


@pytest.mark.parametrize("error", [OperationalError("gone"), ValueError("a fault of ours"), RuntimeError("no thread")])
@pytest.mark.parametrize("breaks", ["now", "tell_leads"])
def test_it_goes_on_whatever_breaks_and_tells_once_that_works(
    breaks: str, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults, told = [error] * 6, list[datetime]()

    def now(*, at: datetime) -> workers.WorkersNow:
        if breaks == "now" and faults:
            raise faults.pop()
        return workers.WorkersNow(gone_since=SINCE)

    def tell(since: datetime) -> int:
        if breaks == "tell_leads" and faults:
            raise faults.pop()
        told.append(since)
        return 1

    gone_since = worker_watch._gone_since
    monkeypatch.setattr(worker_watch, "_gone_since", lambda: gone_since() if not told else _over())
    monkeypatch.setattr(worker_watch, "LOOK_S", 0.0)
    monkeypatch.setattr(worker_watch, "clock", SimpleNamespace(measure=lambda: None))
    monkeypatch.setattr(worker_watch, "connection", SimpleNamespace(close=lambda: None))
    monkeypatch.setattr(workers, "now", now)
    monkeypatch.setattr(workers, "tell_leads", tell)
    with ThreadPoolExecutor(1) as threads, suppress(EOFError):
        asyncio.run(worker_watch.watch(threads))
    assert (told, faults) == ([SINCE], [])


@pytest.mark.django_db
@pytest.mark.parametrize("read_only", [False, True])
def test_no_worker_is_taken_for_gone_where_none_can_say_that_it_lives(
    read_only: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise people are told to page by hand until a standby is promoted and the first heartbeat has come."""
    monkeypatch.setattr(workers, "REPORTED_S", 30.0)
    monkeypatch.setattr(workers, "_unreported_at", [-30.0])
    monkeypatch.setattr(database_watch, "database", Breaker(probe_s=0.5))
    monkeypatch.setattr(worker_watch, "connection", SimpleNamespace(close=lambda: None))
    workers.say_alive("worker@here", kind=workers.WORKER, alone_since=None, at=timezone.now() - timedelta(minutes=5))
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('transaction_read_only', %s, true)", ["on" if read_only else "off"])
    assert (worker_watch._gone_since() is None) == read_only
    assert (workers.gone_since(at=timezone.now()) is None) == read_only
    assert (workers._unreported_at != [-30.0]) == read_only


@pytest.mark.django_db
@pytest.mark.parametrize("is_lately", [True, False])
def test_nor_before_one_had_the_time_to_say_so_again(is_lately: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "REPORTED_S", 30.0)
    monkeypatch.setattr(database_watch, "database", Breaker(probe_s=0.5))
    monkeypatch.setattr(workers, "_unreported_at", [time.monotonic() - (0 if is_lately else 30)])
    workers.say_alive("worker@here", kind=workers.WORKER, alone_since=None, at=timezone.now() - timedelta(minutes=5))
    assert (workers.now(at=timezone.now()).gone_since is None) == is_lately


def _over() -> datetime | None:
    raise EOFError

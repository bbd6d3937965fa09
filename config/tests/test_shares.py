"""A kind of work always has the connections it keeps, and together there are never more than there are."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import OperationalError
from django.test import RequestFactory
from hypothesis import given
from hypothesis import strategies as st
from psycopg_pool import PoolTimeout

from config.database import CONNECTIONS
from config.http import serving
from config.postgresql import shares
from config.postgresql.base import DatabaseWrapper
from config.postgresql.shares import Shares
from config.tests.small_pool import small_pool
from incidents.claiming.patient_threads import PatientThreads
from incidents.outages import answer_time, database_watch, outage_answer, unserved

MOST = 6
KEEPS = {"page": 2, "command": 1}
KINDS = [*KEEPS, shares.OTHERS, "new"]


@given(st.lists(st.tuples(st.booleans(), st.sampled_from(KINDS)), max_size=60))
def test_whatever_others_have_each_kind_gets_what_it_keeps(steps: list[tuple[bool, str]]) -> None:
    among, lent = Shares(MOST, KEEPS), Counter[str]()
    for takes, kind in steps:
        if takes and among.take(kind, within_s=0):
            lent[kind] += 1
        elif takes:
            assert lent[kind] >= {shares.OTHERS: 1, **KEEPS}.get(kind, 0)
        elif lent[kind]:
            among.give_back(kind)
            lent[kind] -= 1
        assert lent.total() <= MOST
    for kind, kept in {shares.OTHERS: 1, **KEEPS}.items():
        assert all(among.take(kind, within_s=0) for _ in range(kept - lent[kind]))


def test_who_waits_gets_what_others_give_back() -> None:
    among = Shares(MOST, KEEPS)
    while among.take("page", within_s=0):
        pass
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(among.take, "page", within_s=60)
        among.give_back("page")
        assert waiting.result(60)


def test_pages_may_have_a_connection_for_each_of_their_threads_and_every_kind_of_thread_keeps_one() -> None:
    among = Shares(CONNECTIONS, serving.KEEPS)
    assert all(among.take("page", within_s=0) for _ in range(serving.PAGES))
    application = serving.Application()
    pools = [one for one in vars(application).values() if isinstance(one, PatientThreads)]
    pools += [threads for _, threads in application._webhooks.values()]
    kinds = {one._initargs[0] for one in pools}  # the library's own
    assert kinds == serving.KEEPS.keys()


@pytest.fixture
def crowded(db: None) -> Iterator[DatabaseWrapper]:
    """A pool of which this thread's kind of work may have nothing more."""
    with small_pool(3, alias="crowded") as made:
        made.pool.divides = True
        among = Shares(3, {"page": 1})
        shares.divide(among)
        lent = [made.pool.getconn() for _ in range(2)]
        yield made
        shares.divide(None)
        for one in lent:
            made.pool.putconn(one)
        assert among.take(shares.OTHERS, within_s=0)
        assert among.take(shares.OTHERS, within_s=0), "a connection that was taken back is still counted"


def test_who_may_have_no_more_is_told_that_firekind_is_busy(crowded: DatabaseWrapper) -> None:
    with pytest.raises(OperationalError) as raised:
        crowded.ensure_connection()
    assert not isinstance(raised.value.__cause__, PoolTimeout)
    assert outage_answer.is_excuse(raised.value)
    assert not database_watch.is_away()
    assert outage_answer.happened(raised.value) == outage_answer.BUSY
    sent = RequestFactory().post("/api/v1/incidents/")
    answer = outage_answer.answer(sent.path, raised.value)
    assert (answer.status_code, "Firekind is busy" in answer.content.decode()) == (503, True)


def test_who_cannot_wait_for_it_is_told_that_it_took_too_long(crowded: DatabaseWrapper) -> None:
    with answer_time.until(time.monotonic()), pytest.raises(OperationalError) as raised:
        crowded.ensure_connection()
    assert unserved.was_too_slow(raised.value)


def test_another_kind_is_lent_what_it_keeps(crowded: DatabaseWrapper) -> None:
    lent: list[bool] = []

    def page() -> None:
        shares.is_of("page")
        one = crowded.pool.getconn()
        lent.append(True)
        crowded.pool.putconn(one)

    thread = threading.Thread(target=page)
    thread.start()
    thread.join(60)
    assert lent

"""No one waits for what does not respond: hints are dropped, statements abandoned, and only true outages count."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, Final

import psycopg
import pytest
from django.conf import settings
from django.db import OperationalError, connection, connections
from django.test import RequestFactory
from psycopg import sql
from psycopg_pool import ConnectionPool, PoolTimeout

from incidents.outages import answer_time, breaker, database_watch, hint_sender, outage_answer, unserved
from incidents.outages.breaker import Breaker
from incidents.outages.database_watch import Bounded, Patience
from incidents.outages.hint_sender import HintTask

ASKS: Final = database_watch._ask_of_sessions  # which tests do not touch anywhere else


@dataclass
class UntakenTask:
    """A task whose broker is away this many times."""

    name: str = "a task"
    away: int = 0
    tried: list[int] = field(default_factory=list)
    sent: threading.Event = field(default_factory=threading.Event)

    def apply_async(self, args: tuple[int], **_: Any) -> None:
        self.tried.append(args[0])
        if self.away:
            self.away -= 1
            raise ConnectionRefusedError
        self.sent.set()


@pytest.mark.parametrize("pooled", [True, False])
def test_only_what_people_wait_for_waits_no_longer_for_locks(pooled: bool, settings: Any) -> None:
    direct = "postgresql://postgres@/firekind" if pooled else ""
    settings.FIREKIND = replace(settings.FIREKIND, database_direct_url=direct)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database_watch, "patience", Patience())
        patch.setattr(database_watch, "_ask_of_sessions", ASKS)
        patch.setitem(settings.DATABASES["default"], "OPTIONS", {"options": "-c search_path=public"})
        database_watch.hurry()
        given = settings.DATABASES["default"]["OPTIONS"]["options"]
    asked = ["idle_in_transaction_session_timeout=10000", "client_connection_check_interval=1000", "lock_timeout=1200"]
    assert given == " -c ".join(["-c search_path=public", *([] if pooled else asked)])


def test_a_probe_is_let_in_by_whatever_lets_everyone_in_and_asks_nothing_of_its_session(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Otherwise one that needs a passfile would never find the database again."""
    given = {"passfile": "/run/secrets/pgpass", "channel_binding": "disable", "options": "-c lock_timeout=1"}
    monkeypatch.setitem(connection.settings_dict, "OPTIONS", given | {"connect_timeout": 9})
    address = database_watch.address()
    assert given.items() - address.items() == {("options", "-c lock_timeout=1")}
    assert "connect_timeout" not in address


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(breaker, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Breaker]:
    made = Breaker(probe_s=2.0)
    monkeypatch.setattr(hint_sender, "broker", made)
    yield made
    for thread in threading.enumerate():
        if thread.name == "hint":  # it reports its result, and not to the next test's breaker
            thread.join()


def test_the_first_hint_that_is_not_taken_is_the_last_to_be_waited_for(broker: Breaker, clock: list[float]) -> None:
    task = UntakenTask(away=1)
    for pk in range(5):
        hint_sender.send(task, pk, fresh_s=30)
    assert task.tried == [0]
    assert broker.open_since is not None

    clock[0] += 2.0
    hint_sender.send(task, 5, fresh_s=30)
    assert task.sent.wait(60)
    assert task.tried == [0, 5]


def test_only_one_finds_out_whether_it_is_back(broker: Breaker, clock: list[float]) -> None:
    assert broker.failed()
    assert not broker.failed()
    clock[0] += 2.0
    assert [broker.probes() for _ in range(3)] == [True, False, False]
    broker.worked()
    assert (broker.open_since, broker.probes()) == (None, False)


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Act as a worker that does one task itself; return what it did."""
    did: list[tuple[str, int]] = []

    def take(task: HintTask, pk: int) -> bool:
        if task.name == "a task":
            did.append((task.name, pk))
        return task.name == "a task"

    monkeypatch.setattr(hint_sender, "_takers", [take])
    return did


@pytest.mark.usefixtures("broker")
def test_what_a_worker_finds_it_does_itself_and_others_send_it(done: list[tuple[str, int]]) -> None:
    ours, others = UntakenTask(), UntakenTask(name="another's")
    hint_sender.found(ours, 7, fresh_s=30)
    hint_sender.found(others, 8, fresh_s=30)
    assert (done, ours.tried, others.tried) == ([("a task", 7)], [], [8])


@pytest.mark.usefixtures("broker", "clock")
def test_what_the_broker_does_not_take_a_worker_does_itself(done: list[tuple[str, int]]) -> None:
    task, others = UntakenTask(away=1), UntakenTask(name="another's")
    for pk in range(3):
        hint_sender.send(task, pk, fresh_s=30)
        hint_sender.send(others, pk, fresh_s=30)
    assert done == [("a task", 0), ("a task", 1), ("a task", 2)]
    assert (task.tried, others.tried) == ([0], [])


def test_what_is_sent_to_a_broker_that_answers_is_not_done_here(broker: Breaker, done: list[tuple[str, int]]) -> None:
    task = UntakenTask()
    broker.failed()
    hint_sender.heard(None)
    hint_sender.send(task, 7, fresh_s=30)
    assert (done, task.tried) == ([], [7])


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_watch, "patience", Patience(silence_s=0.05, probe_s=30.0))
    monkeypatch.setattr(database_watch, "database", Breaker(probe_s=0.1))


@pytest.mark.django_db
@pytest.mark.usefixtures("impatient")
def test_a_slow_statement_is_waited_for_while_the_server_answers() -> None:
    with Bounded.connect(**database_watch.address()) as slow:
        assert slow.execute("SELECT 7 FROM pg_sleep(0.3)").fetchone() == (7,)
    assert not database_watch.is_away()


@pytest.mark.django_db
@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("left_s", [0.0, 0.2])
def test_a_slow_statement_is_waited_for_no_longer_than_whoever_asked_can_be(left_s: float) -> None:
    with Bounded.connect(**database_watch.address()) as slow, answer_time.until(time.monotonic() + left_s):
        with pytest.raises(unserved.TooSlow) as raised:
            slow.execute("SELECT FROM pg_sleep(1)")
        assert slow.closed, "what it did must not be committed"
    assert not database_watch.is_away()
    assert database_watch.is_to_blame(raised.value)
    assert outage_answer.in_slack(raised.value).startswith(outage_answer.SLOW)


REFUSALS: Final = {
    "too many": "ALTER ROLE {} CONNECTION LIMIT 1",
    "not let in": "ALTER ROLE {} NOLOGIN",
}


@dataclass(frozen=True)
class LastConnection:
    """The only connection of a role, and a way to have the server refuse any other."""

    made: Bounded
    refuse: Callable[[str], object]


@pytest.fixture
def ours(django_db_setup: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[LastConnection]:
    given = database_watch.address()
    monkeypatch.setattr(database_watch, "_asked", [])
    with psycopg.connect(**given, autocommit=True) as server:
        name = f"lent_{os.getpid()}"  # roles belong to the whole server, which several processes test with

        def run(words: str, *more: str) -> None:
            server.execute(sql.SQL(words).format(*map(sql.Identifier, (name, *more))))

        run("CREATE ROLE {} LOGIN")
        run("GRANT CONNECT ON DATABASE {1} TO {0}", given["dbname"])
        monkeypatch.setattr(database_watch, "address", lambda: given | {"user": name})
        with closing(Bounded.connect(**database_watch.address(), autocommit=True)) as made:
            yield LastConnection(made, lambda how: run(REFUSALS[how]))
        run("DROP OWNED BY {}")
        run("DROP ROLE {}")


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("how", REFUSALS)
def test_a_slow_statement_is_waited_for_although_the_server_refuses_new_connections(
    how: str, ours: LastConnection
) -> None:
    ours.refuse(how)
    assert ours.made.execute("SELECT 7 FROM pg_sleep(0.5)").fetchone() == (7,)
    assert database_watch.refuses()
    assert not database_watch.is_away()


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("how", REFUSALS)
@pytest.mark.parametrize("lately", [True, False], ids=["ours works", "ours is gone"])
def test_a_server_that_refuses_new_connections_is_away_once_ours_are_gone(
    how: str, lately: bool, ours: LastConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_watch, "_look_for_its_return", lambda: None)
    monkeypatch.setattr(database_watch, "_heard_at", [time.monotonic() - database_watch.HEARD_S - 1])
    ours.refuse(how)
    if lately:
        ours.made.execute("SELECT 7")
    assert database_watch.is_to_blame(PoolTimeout())
    assert (database_watch.refuses(), database_watch.is_away()) == (True, not lately)


def test_who_has_no_time_to_find_out_does_not_say_that_the_server_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_watch, "_Probe", lambda: SimpleNamespace(ended=False, answered=lambda within_s: False))
    monkeypatch.setattr(database_watch, "_asked", [])
    monkeypatch.setattr(database_watch, "database", Breaker(probe_s=0.1))
    with answer_time.until(time.monotonic()):
        assert not database_watch.answers()
    assert not database_watch.is_away()


def test_what_nobody_had_time_to_hear_is_known_to_whoever_comes_next(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(database_watch, "address", lambda: {"host": "/nowhere"})
    monkeypatch.setattr(database_watch, "_look_for_its_return", lambda: None)
    monkeypatch.setattr(database_watch, "_asked", asked)
    monkeypatch.setattr(database_watch, "database", Breaker(probe_s=0.1))
    with answer_time.until(time.monotonic()):
        assert not database_watch.answers()
    assert not asked[0].worked(within_s=30)
    assert database_watch.is_away()


def test_nobody_waits_for_a_connection_to_a_database_that_is_known_to_be_away(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = SimpleNamespace(timeout=10.0)
    monkeypatch.setattr(type(connections["default"]), "pool", pool)
    monkeypatch.setitem(settings.DATABASES["default"], "OPTIONS", {"pool": {"timeout": 10.0}})
    monkeypatch.setattr(database_watch, "database", Breaker(probe_s=0.1))
    found, back = threading.Event(), threading.Event()

    def worked(*, within_s: float) -> bool:
        found.set()
        return back.wait(30)

    monkeypatch.setattr(database_watch, "_Probe", lambda: SimpleNamespace(worked=worked))
    database_watch._is_gone()
    assert found.wait(30)
    assert pool.timeout == database_watch.KNOWN_S
    back.set()
    for _ in range(600):
        if not database_watch.is_away():
            break
        time.sleep(0.05)
    assert (database_watch.is_away(), pool.timeout) == (False, 10.0)


def test_who_waited_in_vain_for_a_connection_is_not_kept_until_it_is_known_why(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[float] = []
    status = 0
    monkeypatch.setattr(database_watch, "answers", lambda: left.append(answer_time.left_s()))

    def waits_in_vain() -> None:
        raise OperationalError from PoolTimeout()

    try:
        waits_in_vain()
    except OperationalError:
        status = outage_answer.failed(RequestFactory().get("/")).status_code
    assert status == 503
    assert database_watch.IN_A_HURRY.pool_s + left[0] <= answer_time.SLACK_S


@pytest.mark.django_db
def test_a_statement_that_was_given_up_does_not_go_on_without_us(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_watch, "GONE_S", 0.02)
    monkeypatch.setattr(database_watch, "_ask_of_sessions", ASKS)
    options: dict[str, Any] = {}
    monkeypatch.setitem(settings.DATABASES["default"], "OPTIONS", options)
    database_watch.hold_nothing_for_long()
    given = database_watch.address() | {"autocommit": True}
    with Bounded.connect(**given) as beside, Bounded.connect(**given, **options) as slow:
        with answer_time.until(time.monotonic() + 0.2), pytest.raises(unserved.TooSlow):
            slow.execute("SELECT FROM pg_sleep(600)")
        goes_on = "SELECT FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)' AND pid <> pg_backend_pid()"
        for _ in range(600):
            if not beside.execute(goes_on).rowcount:
                return
            time.sleep(0.05)
    pytest.fail("the statement is still running")


@pytest.mark.django_db
@pytest.mark.usefixtures("impatient")
def test_nothing_is_waited_for_while_the_server_is_away() -> None:
    with Bounded.connect(**database_watch.address()) as connection:
        database_watch.database.failed()
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 7")


@pytest.fixture
def pool(django_db_setup: None) -> Iterator[ConnectionPool[Bounded]]:
    """Return a pool of a single connection, for tests of reusing one."""
    check = ConnectionPool.check_connection
    given = {**database_watch.address(), "autocommit": True, "prepare_threshold": 5}
    with ConnectionPool(connection_class=Bounded, kwargs=given, min_size=1, max_size=1, check=check) as made:
        made.wait()
        yield made


def test_a_connection_that_is_well_is_lent_without_asking_the_server(
    pool: ConnectionPool[Bounded], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(psycopg.Connection, "execute", lambda self, query, *_, **__: asked.append(query))
    for _ in range(3):
        with pool.connection() as lent:
            lent.execute("SELECT 7")
    assert asked == ["SELECT 7"] * 3


def test_a_connection_that_ended_while_nobody_had_it_is_lent_to_nobody(pool: ConnectionPool[Bounded]) -> None:
    with pool.connection() as lent:
        one = lent.info.backend_pid
    with Bounded.connect(**database_watch.address(), autocommit=True) as beside:
        beside.execute("SELECT pg_terminate_backend(%s, 30000)", [one])
    with pool.connection() as lent:
        assert lent.execute("SELECT pg_backend_pid() <> %s", [one]).fetchone() == (True,)


def test_a_connection_on_which_something_was_said_is_asked(pool: ConnectionPool[Bounded]) -> None:
    with pool.connection() as lent:
        one = lent.info.backend_pid
        lent.execute("LISTEN news")
    with Bounded.connect(**database_watch.address(), autocommit=True) as beside:
        beside.execute("NOTIFY news")
    with pool.connection() as lent:
        assert lent.info.backend_pid == one


class _Threads:
    """A system that has no thread to spare, this many times."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, refused: int) -> None:
        self.left, starts = refused, threading.Thread.start

        def start(one: threading.Thread) -> None:
            if self.left:
                self.left -= 1
                raise RuntimeError("can't start new thread")
            starts(one)

        monkeypatch.setattr(threading.Thread, "start", start)


def test_an_outage_ends_although_no_thread_could_be_had_to_look_for_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(probe: Any) -> None:
        probe._worked = True
        probe._ended.set()

    monkeypatch.setattr(database_watch, "database", Breaker(probe_s=60))
    monkeypatch.setattr(database_watch, "_asked", [])
    monkeypatch.setattr(database_watch, "AGAIN_S", 0.0)
    monkeypatch.setattr(database_watch._Probe, "_connect", connect)
    threads = _Threads(monkeypatch, refused=2)  # for the probe, and for the thread that waits for the database's return
    database_watch.answers()
    assert not database_watch.is_away(), "or it was for good: nobody would look"
    database_watch.database.failed()
    threads.left = 2
    database_watch._look_for_its_return()
    assert (threads.left, database_watch.is_away()) == (0, False)

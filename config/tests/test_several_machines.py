"""Firekind on several machines: RabbitMQ as the broker, and a pooler that shares sessions."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from celery.worker import consumer
from hypothesis import example, given
from hypothesis import strategies as st

from config import broker, env
from config.broker import EFFECTS, EVIDENCE
from config.celery import app
from config.database import from_url
from config.process import looks
from config.process.consumer import LATER, STEPS
from config.process.own_loop import queue_of
from incidents.outages import database_watch
from incidents.outages.breaker import Breaker
from incidents.outages.database_watch import Patience

QUEUES = (EFFECTS, EVIDENCE)
GIVEN = {"DATABASE_URL": "postgresql://db", "SECRET_KEY": "0123456789abcdefghijklmnop" * 3}
HOST = st.from_regex(r"[a-z][a-z0-9-]{0,10}", fullmatch=True)
# State that a session keeps: with a pooler, this process's next statement may run in another session.
KEEPS = re.compile(
    r"pg_(?:try_)?advisory_lock(?:_shared)?\b|\bLISTEN \{?|(?:^|['\x22;]\s*)SET (?!LOCAL\b)|\bCREATE TEMP|"
    r"\bPREPARE \w+ AS|\bDECLARE \w+ CURSOR|set_config\([^)]*false\)"
)
OURS = ("audit", "config", "evidence", "incidents", "insights", "integrations", "reviews", "workflows")


@given(st.sampled_from([*broker.REDIS, *broker.RABBITMQ]), HOST)
@example("redis+socket", "run")
def test_a_broker_of_either_kind_is_never_waited_for(scheme: str, host: str) -> None:
    url = f"{scheme}://{host}/0"
    read = url + "?ssl_cert_reqs=required" * (scheme == "rediss")
    assert env.read({**GIVEN, "BROKER_URL": url}).broker_url == read
    assert env.read({**GIVEN, "REDIS_URL": url}).broker_url == read
    sends = broker.sending(url, queues=QUEUES)["broker_transport_options"]
    waits = [value for name, value in sends.items() if name.endswith("timeout") and name != "visibility_timeout"]
    assert waits == [broker.SEND_S, broker.SEND_S]
    assert sends["max_retries"] == 0
    takes = broker.taking(url)["broker_transport_options"]
    assert takes.get("socket_timeout", broker.TAKE_S) == broker.TAKE_S
    assert "read_timeout" not in takes


def test_the_newer_name_of_the_broker_wins() -> None:
    given = {**GIVEN, "BROKER_URL": "amqp://user:secret@rabbit:5672//", "REDIS_URL": "redis://old"}
    assert broker.is_rabbitmq(env.read(given).broker_url)


def test_every_queue_of_rabbitmq_is_a_quorum_queue_and_confirms() -> None:
    made = broker.sending("amqp://rabbit", queues=QUEUES)
    assert {one.name: one.queue_arguments["x-queue-type"] for one in made["task_queues"]} == dict.fromkeys(
        QUEUES, "quorum"
    )
    assert {queue_of(name) for name in app.tasks if not name.startswith("celery.")} == {*QUEUES}
    assert looks.OWN.keys() == looks.SHARED.keys() == {*QUEUES}
    assert made["broker_transport_options"]["confirm_publish"] is True
    assert "task_queues" not in broker.sending("redis://valkey", queues=QUEUES)


def test_nothing_is_prepared_for_tasks_of_a_later_time() -> None:
    usual = consumer.Consumer.Blueprint.default_steps
    assert LATER in usual, "Celery calls that step otherwise by now"
    assert [step for step in usual if step not in STEPS] == [LATER]


@given(st.lists(HOST, min_size=1, max_size=3), st.booleans())
def test_several_servers_are_named_as_libpq_reads_them(hosts: list[str], pooled: bool) -> None:
    ports = ",".join("5432" for _ in hosts)
    url = f"postgresql://me@/firekind?host={','.join(hosts)}&port={ports}&target_session_attrs=read-write"
    found = from_url(url, pooled=pooled)
    assert (found["HOST"], found["PORT"]) == (",".join(hosts), ports)
    assert found["OPTIONS"]["target_session_attrs"] == "read-write"
    assert found["DISABLE_SERVER_SIDE_CURSORS"] is pooled
    assert env.read({**GIVEN, "REDIS_URL": "redis://b", "DATABASE_DIRECT_URL": url}).database_direct_url == url


def test_only_code_that_bypasses_the_pooler_keeps_a_session() -> None:
    kept = {
        str(path.relative_to(env.ROOT))
        for folder in OURS
        for path in (env.ROOT / folder).rglob("*.py")
        if not {"tests", "migrations"} & {*path.parts} and KEEPS.search(_code(path))
    }
    direct = {"incidents/live/listening.py", "config/management/commands/migrate.py"}  # by DATABASE_DIRECT_URL
    assert kept == direct, "give it DATABASE_DIRECT_URL, or keep nothing in the session"


@pytest.mark.parametrize(
    "says",
    ["SELECT pg_advisory_lock(1)", "SET statement_timeout = 5", "SET SESSION AUTHORIZATION x", "CREATE TEMP TABLE x"],
)
def test_what_a_session_keeps_is_recognised(says: str) -> None:
    assert KEEPS.search(says)
    assert not KEEPS.search("SET LOCAL statement_timeout = 5; SELECT pg_try_advisory_xact_lock(1)")


def _code(path: Path) -> str:
    """Return a file without its comments."""
    return re.sub(r"#.*", "", path.read_text(encoding="utf-8"))


@pytest.fixture
def taken_and_not_answered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Accept connections like a pooler whose server is gone: clients are welcome, and no statement is answered."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        threading.Thread(target=_welcome, args=(door,), daemon=True).start()
        address = {"host": "127.0.0.1", "port": door.getsockname()[1], "user": "someone", "sslmode": "disable"}
        monkeypatch.setattr(database_watch, "address", lambda: address)
        monkeypatch.setattr(database_watch, "database", Breaker(probe_s=60))
        monkeypatch.setattr(database_watch, "_asked", [])
        monkeypatch.setattr(database_watch, "_look_for_its_return", lambda: None)
        yield


def _welcome(door: socket.socket) -> None:
    taken: list[socket.socket] = []
    while True:
        try:
            taken.append(door.accept()[0])
        except OSError:
            return
        taken[-1].recv(1000)
        taken[-1].sendall(b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I")


@pytest.mark.usefixtures("taken_and_not_answered")
def test_a_pooler_without_a_server_is_no_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_watch, "patience", Patience(probe_s=0.2))
    assert not database_watch.answers()
    assert database_watch.is_away()

"""A broker that is down: no one waits for it, and work continues when it is back."""

import logging
import shlex
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from celery import Celery
from django.conf import settings
from kombu import Message, Queue
from kombu.exceptions import OperationalError
from redis import Redis

from config import broker
from config.doctor import processes
from config.messages import CONFIGURATION
from config.process import broker_probe
from config.process.consumer import Consumer
from incidents.outages import hint_sender
from incidents.outages.breaker import Breaker
from stack.processes.guard import Guard
from stack.processes.process import Process
from stack.services import rabbitmq, redis, services
from stack.services.away import frozen
from stack.supervisor.running import Stack
from stack.supervisor.throwaway import throwaway

PATIENCE_S = 40


@pytest.fixture
def guard() -> Iterator[Guard]:
    guard = Guard()
    yield guard
    guard.close()


def sender(broker_url: str) -> Celery:
    app = Celery("sender", fixups=[], set_as_current=False)
    app.conf.update({**CONFIGURATION, "broker_url": broker_url})
    return app


def took_s(broker_url: str) -> float:
    """Send a hint that cannot be sent, and return how long that took."""
    began = time.monotonic()
    with pytest.raises(OperationalError):
        sender(broker_url).send_task("workflows.tasks.sweep")
    return time.monotonic() - began


def test_a_hint_is_given_up_at_once_where_nothing_listens(tmp_path: Path) -> None:
    assert took_s(redis.url(tmp_path)) < 10


def test_a_hint_is_given_up_soon_where_nothing_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        assert took_s(f"redis://127.0.0.1:{deaf.getsockname()[1]}/0") < 20


@pytest.mark.parametrize("asks", [True, False], ids=["asks for the next", "does not"])
@pytest.mark.parametrize("acknowledged", [True, False], ids=["acknowledged", "not acknowledged"])
@pytest.mark.parametrize("hears", [True, False], ids=["hears orders", "hears none"])
@pytest.mark.parametrize("is_back", [True, False], ids=["back", "gone"])
def test_a_broker_that_goes_away_with_a_message_in_hand_ends_no_worker(
    tmp_path: Path, guard: Guard, acknowledged: bool, asks: bool, hears: bool, is_back: bool
) -> None:
    with services.sockets(tmp_path) as sockets:
        server = redis.start(sockets, guard=guard)
        app: Any = sender(redis.url(sockets))
        taker: Any = Consumer.__new__(Consumer)  # in its state after connecting
        taker.app, taker.connection, taker.qos_global = app, app.connection_for_read(), False
        taker.pool, taker.prefetch_multiplier = SimpleNamespace(num_processes=16), 1
        held: list[Message] = []
        app.amqp.TaskConsumer(taker.connection, on_message=held.append).consume()
        if hears:
            app.control.mailbox.Node("worker", channel=taker.connection.channel()).listen()
        app.send_task("workflows.tasks.sweep")
        while not held:
            taker.connection.drain_events(timeout=PATIENCE_S)
        if acknowledged:
            held[0].ack()
        if asks:
            with suppress(TimeoutError):
                while True:
                    taker.connection.drain_events(timeout=0.1)
        server.kill9()
        taker.on_connection_error_after_connected(ConnectionResetError())
        assert taker.connection is None, "it connects anew"
        if is_back:
            server = redis.start(sockets, guard=guard)
        if not acknowledged:  # the work that it was taken for ends only now
            end = held[0].reject_log_error if hears else held[0].ack_log_error
            end(logging.getLogger(__name__), app.connection_for_read().connection_errors)
        server.stop()


@pytest.mark.parametrize("asks", [True, False], ids=["asks for the next", "does not"])
@pytest.mark.parametrize("restores", [True, False], ids=["restores what others took", "does not"])
def test_a_worker_that_is_asked_to_end_waits_for_no_broker_that_hangs(
    tmp_path: Path, guard: Guard, asks: bool, restores: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with services.sockets(tmp_path) as sockets:
        server = redis.start(sockets, guard=guard)
        app: Any = sender(redis.url(sockets))
        monkeypatch.setattr(broker_probe, "app", app)
        patient = {**broker.REDIS_OPTIONS, "socket_timeout": 600, "polling_interval": 500}
        taker: Any = Consumer.__new__(Consumer)  # in its state after connecting
        taker.app, taker.connection = app, app.connection_for_read(transport_options=patient)
        app.amqp.TaskConsumer(taker.connection, on_message=lambda _: None).consume()
        if asks:
            with suppress(TimeoutError):
                taker.connection.drain_events(timeout=0.1)

        def end() -> None:
            with suppress(*taker.connection.connection_errors):
                if restores:
                    taker.connection.default_channel.qos.restore_visible()
            taker.connection.close()

        with frozen(server):
            ending = threading.Thread(target=end, daemon=True)
            taker.part()
            ending.start()
            ending.join(60)
            assert not ending.is_alive()
        server.stop()


@pytest.mark.workers
def test_the_worker_comes_back_with_its_broker(tmp_path: Path, guard: Guard) -> None:
    with services.sockets(tmp_path) as sockets:
        server = redis.start(sockets, guard=guard)
        with throwaway(processes=["worker"], env={"REDIS_URL": redis.url(sockets)}) as stack:
            wait_until_taken(stack, sockets)

            server.kill9()
            time.sleep(1)
            server = redis.start(sockets, guard=guard)

            wait_until_taken(stack, sockets)
        server.stop()


@pytest.mark.workers
def test_what_another_application_asks_of_its_workers_is_left_to_them(tmp_path: Path, guard: Guard) -> None:
    """Redis is often shared, and every Celery application that does not choose a name calls its queue `celery`."""
    with services.sockets(tmp_path) as sockets:
        server = redis.start(sockets, guard=guard)
        theirs: Any = Redis(unix_socket_path=str(redis.socket_path(sockets)))
        with throwaway(processes=["worker"], env={"REDIS_URL": redis.url(sockets)}) as stack:
            wait_until_taken(stack, sockets)
            another = Celery("another", broker=redis.url(sockets), fixups=[], set_as_current=False)
            another.send_task("billing.charge", ["Acme's card"])
            theirs.rpush("celery", "not even JSON")
            wait_until_taken(stack, sockets)
            worker = stack.processes["worker"]
            assert (theirs.llen("celery"), worker.alive, "Acme" in worker.output) == (2, True, False)
        theirs.close()
        server.stop()


LOST = "Connection to broker lost"
REFUSALS = {
    "it became a replica": ("REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE"),
    "it is full": ("CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0"),
    "its password is another": ("CONFIG SET requirepass another", "CONFIG SET requirepass ''"),
}


@pytest.mark.workers
def test_a_broker_that_refuses_ends_no_worker_and_is_taken_from_again(
    tmp_path: Path, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    with services.sockets(tmp_path) as sockets:
        server = redis.start(sockets, guard=guard)
        asked: Any = Redis(unix_socket_path=str(redis.socket_path(sockets)))
        monkeypatch.setattr(broker_probe, "app", sender(redis.url(sockets)))
        with throwaway(processes=["worker"], env={"REDIS_URL": redis.url(sockets)}) as stack:
            wait_until_taken(stack, sockets)
            worker = stack.processes["worker"]
            for refuse, relent in REFUSALS.values():
                before = worker.output.count(LOST)
                asked.execute_command(*shlex.split(refuse))
                asked.client_kill_filter(_type="normal", skipme=True)
                wait_until(partial(_lost_more_often, worker, than=before), worker)
                assert broker_probe.error() is not None
                asked.execute_command(*shlex.split(relent))
                assert broker_probe.error() is None
                asked.flushall()  # what was taken but not acknowledged comes back much later
                wait_until_taken(stack, sockets)
                assert worker.alive, worker.output
                assert "CRITICAL" not in worker.output, "it asks again and again without a rest"
        asked.close()
        server.stop()


class Hinted:
    """A task whose hints are sent to a broker."""

    name = "workflows.tasks.sweep"

    def __init__(self, url: str) -> None:
        self._app = sender(url)
        self._app.conf.update(broker.sending(url, queues=("firekind",)))

    def apply_async(self, args: tuple[int], *, expires: float, retry: bool) -> None:
        self._app.send_task(self.name, args, expires=expires, retry=retry)


@pytest.fixture
def hinted(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], bool]:
    """Send a hint to the broker at a URL, and return whether that one counts as down afterwards."""

    def sent(url: str) -> bool:
        monkeypatch.setattr(settings, "FIREKIND", replace(settings.FIREKIND, broker_url=url))
        monkeypatch.setattr(hint_sender, "broker", Breaker(probe_s=60))
        hint_sender.send(Hinted(url), 1, fresh_s=1)
        return hint_sender.broker.open_since is not None

    return sent


@pytest.mark.parametrize("how", REFUSALS)
def test_a_redis_that_refuses_is_one_that_is_away_for_who_sends(
    how: str, tmp_path: Path, guard: Guard, hinted: Callable[[str], bool]
) -> None:
    with services.sockets(tmp_path) as sockets:
        server = redis.start(sockets, guard=guard)
        assert not hinted(redis.url(sockets))
        asked: Any = Redis(unix_socket_path=str(redis.socket_path(sockets)))
        asked.execute_command(*shlex.split(REFUSALS[how][0]))
        asked.client_kill_filter(_type="normal", skipme=True)
        assert hinted(redis.url(sockets))
        asked.close()
        server.stop()


@pytest.mark.slow
@pytest.mark.skipif(rabbitmq.find() is None, reason="RabbitMQ is not installed (apt-get install rabbitmq-server)")
def test_a_rabbitmq_that_refuses_is_one_that_is_away_for_who_sends(
    tmp_path: Path, guard: Guard, hinted: Callable[[str], bool]
) -> None:
    with services.sockets(tmp_path) as sockets:
        node = rabbitmq.start(sockets / "rabbitmq", guard=guard)
        node.control("add_user", "stranger", "word")
        node.control("add_user", "reader", "word")
        node.control("set_permissions", "reader", "", "", ".*")
        refused = ("guest:another@{}//", "guest:guest@{}/nowhere", "stranger:word@{}//", "reader:word@{}//")
        at = f"127.0.0.1:{node.port}"
        assert not hinted(node.url)
        assert [one for one in refused if not hinted(f"amqp://{one.format(at)}")] == []
        node.stop()


@pytest.mark.slow
@pytest.mark.skipif(rabbitmq.find() is None, reason="RabbitMQ is not installed (apt-get install rabbitmq-server)")
def test_a_rabbitmq_with_a_queue_of_our_name_and_another_kind_is_named_as_that(
    tmp_path: Path, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A queue keeps the kind it was made with."""
    with services.sockets(tmp_path) as sockets:
        node = rabbitmq.start(sockets / "rabbitmq", guard=guard)
        ours = sender(node.url)
        ours.conf.update(broker.sending(node.url, queues=("firekind",)))
        monkeypatch.setattr(broker_probe, "app", ours)
        with sender(node.url).connection_for_write() as others:
            classic = Queue("firekind", durable=True)(others.default_channel)
            classic.declare()
            error = broker_probe.error()
            assert error is not None
            assert "firekind" in str(error)
            assert "virtual host" in processes.mend_of(error)
            classic.delete()
        assert broker_probe.error() is None
        node.stop()


def _lost_more_often(worker: Process, *, than: int) -> bool:
    return worker.output.count(LOST) > than


def wait_until_taken(stack: Stack, sockets: Path) -> None:
    sender(stack.env["REDIS_URL"]).send_task("workflows.tasks.sweep")
    queue = Redis(unix_socket_path=str(redis.socket_path(sockets)))
    wait_until(lambda: not queue.llen("firekind") and not queue.hlen("unacked"), stack.processes["worker"])
    queue.close()


def wait_until(is_so: Callable[[], bool], worker: Process) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline, worker.output
        time.sleep(0.05)

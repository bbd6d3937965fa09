"""Celery's message consumer without what our workers do not need, and robust against a failing broker.

For quorum queues Celery would declare 28 queues and as many exchanges at every start of a worker, to deliver tasks at a
later time. We have none of those.
"""

import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Final

from celery import signals
from celery.worker import consumer
from celery.worker.state import maybe_shutdown

from config.process import broker_probe

LATER: Final = "celery.worker.consumer.delayed_delivery:DelayedDelivery"
STEPS: Final = tuple(step for step in consumer.Consumer.Blueprint.default_steps if step != LATER)
# How often and how long connections are cut: a worker that is ending connects again to hand back what it took.
CUT_S: Final = 0.25
CUTS: Final = 240
REST_S: Final = 4.0  # before retrying a broker that refuses because it is full, or became a replica


class Consumer(consumer.Consumer):
    """The consumer of this project's workers."""

    Blueprint = type("Blueprint", (consumer.Consumer.Blueprint,), {"default_steps": STEPS})

    def start(self) -> None:
        """Take messages until the worker is asked to end."""
        signals.worker_shutting_down.connect(self.part, weak=False)
        super().start()

    def part(self, **_: object) -> None:
        """Leave a broker that does not respond without a word, however long the worker would wait for each response.

        Called when the worker is asked to end. Nothing is lost: messages are only hints.
        """
        transport = self.connection.transport if self.connection else None
        channels = [*(getattr(transport, "channels", None) or ())]
        threading.Thread(target=_hang_up, args=[channels], name="hang up", daemon=True).start()

    def on_connection_error_before_connected(self, exc: Exception) -> None:
        """Pause before retrying a broker that refuses while a worker connects."""
        super().on_connection_error_before_connected(exc)
        _rest()

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        """Close a lost connection, and hand back nothing that was taken from it, neither now nor when it is done.

        There is no broker to take it back, and a Redis channel may raise what Celery does not expect, which ends the
        worker.
        """
        refusals = self.connection.channel_errors if self.connection else ()
        transport = self.connection.transport if self.connection else None
        for channel in getattr(transport, "channels", None) or ():
            channel.do_restore = False
            channel.basic_ack = channel.basic_reject = _nobody_is_told
        super().on_connection_error_after_connected(exc)
        if isinstance(exc, refusals):
            _rest()


def _hang_up(channels: Sequence[Any]) -> None:
    """Cut the connections of Redis channels while the process ends, if Redis does not respond."""
    if broker_probe.error() is None:
        return
    for _ in range(CUTS):
        for one in _sockets(channels):
            with suppress(OSError):  # it is closed by now
                one.shutdown(socket.SHUT_RDWR)
        time.sleep(CUT_S)


def _sockets(channels: Sequence[Any]) -> Iterator[socket.socket]:
    for channel in channels:
        clients = [channel.__dict__.get(name) for name in ("client", "subclient")]
        pools = [channel.__dict__.get(name) for name in ("_pool", "_async_pool")]
        connections = [one.connection for one in clients if one is not None]
        connections += [one for pool in pools if pool is not None for one in [*pool._in_use_connections]]  # noqa: SLF001 (the client shows them nowhere else)
        yield from (one._sock for one in connections if one is not None and one._sock is not None)  # noqa: SLF001


def _nobody_is_told(*_: object, **__: object) -> None:
    """Do not acknowledge a message whose connection was lost: it is redelivered, and finds nothing to do."""


def _rest() -> None:
    ends = time.monotonic() + REST_S
    while time.monotonic() < ends:
        maybe_shutdown()
        time.sleep(0.1)

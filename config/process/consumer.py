"""Celery's message consumer without what our workers do not need, and robust against a failing broker.

For quorum queues Celery would declare 28 queues and as many exchanges at every start of a worker, to deliver tasks at a
later time. We have none of those.
"""

import time
from typing import Final

from celery.worker import consumer
from celery.worker.state import maybe_shutdown

LATER: Final = "celery.worker.consumer.delayed_delivery:DelayedDelivery"
STEPS: Final = tuple(step for step in consumer.Consumer.Blueprint.default_steps if step != LATER)
REST_S: Final = 4.0  # before retrying a broker that refuses because it is full, or became a replica


class Consumer(consumer.Consumer):
    """The consumer of this project's workers."""

    Blueprint = type("Blueprint", (consumer.Consumer.Blueprint,), {"default_steps": STEPS})

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


def _nobody_is_told(*_: object, **__: object) -> None:
    """Do not acknowledge a message whose connection was lost: it is redelivered, and finds nothing to do."""


def _rest() -> None:
    ends = time.monotonic() + REST_S
    while time.monotonic() < ends:
        maybe_shutdown()
        time.sleep(0.1)

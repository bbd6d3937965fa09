"""Check whether the broker is there and accepts messages."""

from typing import Any, Final

from kombu.exceptions import OperationalError

from config.broker import sending
from config.celery import app

PROBE: Final = "firekind/probe"
PROBE_S: Final = 60


def error() -> BaseException | None:
    """Return why the broker cannot be reached, does not respond or accepts nothing; None if it works."""
    # With a sender's time-out, even in a process that takes messages: that one would wait for as long as the broker is
    # full.
    options = sending(app.conf.broker_url, queues=())["broker_transport_options"]
    broker: Any = app.connection_for_write(transport_options=options)
    ended: tuple[type[BaseException], ...] = (
        OperationalError,
        *broker.connection_errors,
        *broker.channel_errors,
    )
    try:
        with broker:
            channel = broker.default_channel  # connects, and waits for a response
            # A full broker does respond, and so does a replica: only a write shows the difference.
            if (redis := getattr(channel, "client", None)) is not None:
                redis.set(PROBE, "", ex=PROBE_S)
            else:
                _declare(channel)
                _send_twice(broker)
    except ended as error:
        return error
    return None


def _declare(channel: Any) -> None:
    """Declare our queues as workers do, which changes nothing unless one is missing, or of another kind."""
    for queue in app.conf.task_queues or ():
        queue(channel).declare()


def _send_twice(broker: Any) -> None:
    """Send to no queue, which RabbitMQ confirms and drops. A full one still reads the first message of a connection."""
    sender = broker.Producer(auto_declare=False)
    for _ in range(2):
        sender.publish("", exchange="", routing_key=PROBE, retry=False)

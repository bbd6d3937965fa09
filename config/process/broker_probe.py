"""Ask the broker whether it is there and takes anything."""

from typing import Any, Final

from kombu.exceptions import OperationalError

from config.broker import sending
from config.celery import app

PROBE: Final = "firekind/probe"
PROBE_S: Final = 60


def error() -> BaseException | None:
    """Return why the broker takes no connection, answers nothing on it or takes nothing; None where it does."""
    # With the patience of who sends, also in a process that takes messages: it would wait for as long as a full one is.
    options = sending(app.conf.broker_url, queues=())["broker_transport_options"]
    broker: Any = app.connection_for_write(transport_options=options)
    ended: tuple[type[BaseException], ...] = (
        OperationalError,
        *broker.connection_errors,
        *broker.channel_errors,
    )
    try:
        with broker:
            channel = broker.default_channel  # connects, and asks for an answer
            # One that is full does answer, and so does a replica: only what is written tells.
            if (redis := getattr(channel, "client", None)) is not None:
                redis.set(PROBE, "", ex=PROBE_S)
            else:
                _send_twice(broker)
    except ended as error:
        return error
    return None


def _send_twice(broker: Any) -> None:
    """Send to no queue, which RabbitMQ confirms and drops. Where it is full, it still reads a connection's first."""
    sender = broker.Producer(auto_declare=False)
    for _ in range(2):
        sender.publish("", exchange="", routing_key=PROBE, retry=False)

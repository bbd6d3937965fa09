"""How Celery speaks to the broker: Redis (Valkey), or RabbitMQ with quorum queues.

Messages are hints under either, so neither is asked to keep them for longer than they are fresh. Nothing else uses the
broker: there is no store of results, and what is counted or limited is counted in PostgreSQL.
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

from kombu import Queue

REDIS: Final = ("redis", "rediss", "redis+socket")
RABBITMQ: Final = ("amqp", "amqps")
SEND_S: Final = 0.5  # whoever sends the first hint that is not taken waits so long; the breaker sees to the rest
ASK_S: Final = 4.0  # a worker asks Redis for the next message, and is answered after so long at the latest
TAKE_S: Final = ASK_S + 1.0
HEARTBEAT_S: Final = 6  # a worker whose RabbitMQ fell silent for twice as long connects again


def is_rabbitmq(url: str) -> bool:
    """Return whether an address is RabbitMQ's."""
    return urlsplit(url).scheme in RABBITMQ


def sending(url: str, *, queues: tuple[str, ...]) -> dict[str, Any]:
    """Return the part of Celery's configuration that the kind of broker decides, for who sends hints."""
    by_kind = _rabbitmq(url, queues=queues) if is_rabbitmq(url) else {"broker_transport_options": dict(REDIS_OPTIONS)}
    # Nobody gives workers orders by messages; on RabbitMQ that would need queues that are no quorum queues.
    return by_kind | {"worker_enable_remote_control": False, "worker_consumer": "config.process.consumer:Consumer"}


def taking(url: str) -> dict[str, Any]:
    """Return what a process that takes messages has otherwise: it waits longer for the next one than a sender does."""
    if not is_rabbitmq(url):
        return {"broker_transport_options": REDIS_OPTIONS | {"socket_timeout": TAKE_S, "polling_interval": ASK_S}}
    # It hears the broker's heartbeats instead: a time-out for reading would end a connection that has nothing to say.
    return {"broker_transport_options": {"max_retries": 0, "client_properties": CLIENT}}


REDIS_OPTIONS: Final = {
    "visibility_timeout": 300,
    "unacked_restore_interval": 10,
    "unacked_restore_throttle": 1,
    "socket_connect_timeout": SEND_S,
    "socket_timeout": SEND_S,
    "max_retries": 0,
    "socket_keepalive": True,
}
# Not told when RabbitMQ blocks who sends: a blocked sender notices by its time-out, and asking costs each send a read.
CLIENT: Final = {"capabilities": {"consumer_cancel_notify": True, "authentication_failure_close": True}}


def _rabbitmq(url: str, *, queues: tuple[str, ...]) -> dict[str, Any]:
    """A hint counts as sent once a majority of the queue's nodes has it; what is not confirmed in time is dropped."""
    parts = urlsplit(url)
    return {
        "broker_transport_options": {
            "confirm_publish": True,
            "read_timeout": SEND_S,
            "write_timeout": SEND_S,
            "max_retries": 0,
            "client_properties": CLIENT,
        },
        "broker_heartbeat": HEARTBEAT_S,
        # The certificate has to be of this host; without a name the client would take any.
        **({"broker_use_ssl": {"server_hostname": parts.hostname}} if parts.scheme == RABBITMQ[1] else {}),
        "task_queues": [Queue(name, routing_key=name, queue_arguments={"x-queue-type": "quorum"}) for name in queues],
        "task_default_queue_type": "quorum",
    }

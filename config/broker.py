"""How Celery talks to the broker: Redis (Valkey), or RabbitMQ with quorum queues.

Messages are only hints with either, so neither has to keep them longer than they are fresh. Nothing else uses the
broker: there is no result store, and everything that is counted or limited is counted in PostgreSQL.
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

from kombu import Queue

# The queues; unrouted tasks go to the first one. Not `celery`, as every Celery application calls its own by default: on
# a broker that is shared, each would take and discard the other's messages, and log what they say.
EFFECTS: Final = "firekind"
EVIDENCE: Final = "evidence"
REDIS: Final = ("redis", "rediss", "redis+socket")
RABBITMQ: Final = ("amqp", "amqps")
SEND_S: Final = 0.5  # how long the sender of the first hint that is not taken waits; after that the breaker takes over
ASK_S: Final = 4.0  # a worker's request for the next message to Redis is answered after this time at the latest
TAKE_S: Final = ASK_S + 1.0
HEARTBEAT_S: Final = 6  # a worker reconnects when RabbitMQ has been silent for twice as long


def is_rabbitmq(url: str) -> bool:
    """Return whether an address is RabbitMQ's."""
    return urlsplit(url).scheme in RABBITMQ


def sending(url: str, *, queues: tuple[str, ...]) -> dict[str, Any]:
    """Return the Celery configuration that depends on the kind of broker, for processes that send hints."""
    by_kind = _rabbitmq(url, queues=queues) if is_rabbitmq(url) else {"broker_transport_options": dict(REDIS_OPTIONS)}
    # No one sends commands to workers by message; on RabbitMQ that would need queues other than quorum queues.
    return by_kind | {"worker_enable_remote_control": False, "worker_consumer": "config.process.consumer:Consumer"}


def taking(url: str) -> dict[str, Any]:
    """Return the overrides for a process that takes messages: it waits longer for the next one than a sender does."""
    if not is_rabbitmq(url):
        return {"broker_transport_options": REDIS_OPTIONS | {"socket_timeout": TAKE_S, "polling_interval": ASK_S}}
    # It relies on the broker's heartbeats instead: a read time-out would end a connection that has nothing to say.
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
# Not notified when RabbitMQ blocks senders: a blocked sender notices by its time-out, and the notice would cost each
# send a read.
CLIENT: Final = {"capabilities": {"consumer_cancel_notify": True, "authentication_failure_close": True}}


def _rabbitmq(url: str, *, queues: tuple[str, ...]) -> dict[str, Any]:
    """A hint counts as sent once a majority of the queue's nodes has it; unconfirmed ones are dropped."""
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
        # The certificate must be for this host; without a name, the client would accept any.
        **({"broker_use_ssl": {"server_hostname": parts.hostname}} if parts.scheme == RABBITMQ[1] else {}),
        "task_queues": [Queue(name, routing_key=name, queue_arguments={"x-queue-type": "quorum"}) for name in queues],
        "task_default_queue_type": "quorum",
    }

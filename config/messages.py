"""How work is distributed to workers.

Rows in PostgreSQL are the truth and messages are hints. The broker may lose every one of them: the sweep finds what is
due. So the broker keeps, retries or delays nothing that matters.
"""

from typing import Final

from config import broker, env
from config.broker import EFFECTS, EVIDENCE

BROKER_URL: Final = env.load().broker_url
CONFIGURATION = {
    "broker_url": BROKER_URL,
    **broker.sending(BROKER_URL, queues=(EFFECTS, EVIDENCE)),
    # A hint that cannot be sent immediately is dropped: declaring an incident never waits for the broker.
    "broker_connection_timeout": 1,
    "task_publish_retry": False,
    "broker_connection_retry_on_startup": True,
    "broker_connection_max_retries": None,  # the worker waits for its broker as long as it takes
    # Retry a broker that refuses, because it became a replica or is full, like one that is away.
    "broker_channel_error_retry": True,
    # A hint is acknowledged when it is taken: a worker that dies loses it, and the sweep finds the work. Acknowledging
    # late would cost a fifth of the worker's time and guarantee nothing more.
    "task_acks_late": False,
    # With early acknowledgement there is nothing to cancel on a lost connection; this only silences Celery's warning.
    "worker_cancel_long_running_tasks_on_connection_loss": True,
    "task_default_queue": EFFECTS,
    "task_ignore_result": True,
    "task_serializer": "json",
    "accept_content": ["json"],
    "timezone": "UTC",
    # Tasks spend nearly all their time waiting for vendors: threads keep many calls in flight in a few megabytes.
    "worker_pool": "config.process.task_pool:TaskThreads",
    "worker_concurrency": 16,
    "worker_prefetch_multiplier": 1,
    "worker_redirect_stdouts": False,
    # Slow tasks have workers of their own, so that they do not hold up the rest.
    "task_routes": {
        "evidence.tasks.*": {"queue": EVIDENCE},
        "workflows.tasks.measure": {"queue": EVIDENCE},
    },
}

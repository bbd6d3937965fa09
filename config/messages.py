"""How work is spread.

Rows in PostgreSQL are the truth and messages are hints. The broker may lose every one of them: the sweep
finds what is due. So nothing that matters is kept, retried or delayed by the broker.
"""

from typing import Final

from config import broker, env

# The queues: the first is where everything goes that is not routed.
EFFECTS, EVIDENCE = "celery", "evidence"
BROKER_URL: Final = env.load().broker_url
CONFIGURATION = {
    "broker_url": BROKER_URL,
    **broker.sending(BROKER_URL, queues=(EFFECTS, EVIDENCE)),
    # A hint that cannot be sent immediately is dropped: declaring an incident never waits for the broker.
    "broker_connection_timeout": 1,
    "task_publish_retry": False,
    "broker_connection_retry_on_startup": True,
    "broker_connection_max_retries": None,  # the worker waits for its broker as long as it takes
    # One that refuses, because it became a replica or is full, is waited for like one that is away.
    "broker_channel_error_retry": True,
    # A hint is acknowledged as it is taken: a worker that dies loses it, and the sweep finds what it was about.
    # Acknowledging late would cost a fifth of the worker's time and promise nothing more.
    "task_acks_late": False,
    # So there is nothing to cancel where the connection is lost, and Celery need not warn each time that it does not.
    "worker_cancel_long_running_tasks_on_connection_loss": True,
    "task_ignore_result": True,
    "task_serializer": "json",
    "accept_content": ["json"],
    "timezone": "UTC",
    # Tasks wait for vendors nearly all the time: threads keep many calls in flight in few megabytes.
    "worker_pool": "threads",
    "worker_concurrency": 16,
    "worker_prefetch_multiplier": 1,
    "worker_redirect_stdouts": False,
    # What takes long has workers of its own, and is not in the way of the rest.
    "task_routes": {
        "evidence.tasks.*": {"queue": EVIDENCE},
        "workflows.tasks.measure": {"queue": EVIDENCE},
    },
}

"""How work is spread, and what runs on a beat.

Rows in PostgreSQL are the truth and messages are hints. The broker may lose every one of them: the sweep
finds what is due. So nothing that matters is kept, retried or delayed by the broker.
"""

from config import env

TAKE_TIMEOUT_S = 1.5  # for workers, who ask for messages and are answered after a second at the latest
# The queues: the first is where everything goes that is not routed.
EFFECTS, EVIDENCE, KEEPING = "celery", "evidence", "keeping"

CONFIGURATION = {
    "broker_url": env.load().redis_url,
    # A hint that cannot be sent immediately is dropped: declaring an incident never waits for the broker.
    "broker_connection_timeout": 1,
    "task_publish_retry": False,
    "broker_connection_retry_on_startup": True,
    "broker_connection_max_retries": None,  # the worker waits for its broker as long as it takes
    "broker_transport_options": {
        "visibility_timeout": 300,
        "unacked_restore_interval": 10,
        "unacked_restore_throttle": 1,
        # Whoever sends the first hint that is not taken waits so long; incidents.outages.hint_sender sees to the rest.
        "socket_connect_timeout": 0.5,
        "socket_timeout": 0.5,
        "max_retries": 0,
        "socket_keepalive": True,
    },
    # A hint is acknowledged as it is taken: a worker that dies loses it, and the sweep finds what it was about.
    # Acknowledging late would cost a fifth of the worker's time and promise nothing more.
    "task_acks_late": False,
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
    # What keeps promises while others work, the beat's own process does: under load the rest waits, and this does not.
    "task_routes": {
        "evidence.tasks.*": {"queue": EVIDENCE},
        "workflows.tasks.measure": {"queue": EVIDENCE},
        "audit.tasks.*": {"queue": KEEPING},
        "workflows.tasks.watch_members": {"queue": KEEPING},
    },
    # All intervals are short and every task is safe to run twice, so beat needs no memory of its own.
    "beat_scheduler": "celery.beat:Scheduler",
    "beat_schedule": {
        "sweep": {"task": "workflows.tasks.sweep", "schedule": 2.0, "options": {"expires": 2}},
        "seal": {"task": "audit.tasks.seal", "schedule": 5.0, "options": {"expires": 5}},
        "publish-head": {"task": "audit.tasks.publish", "schedule": 900.0, "options": {"expires": 900}},
        "close-homes": {"task": "integrations.slack.tasks.redraw_homes", "schedule": 2.0, "options": {"expires": 2}},
        "read-evidence": {"task": "evidence.tasks.sweep", "schedule": 5.0, "options": {"expires": 5}},
        "hear-webhooks": {"task": "integrations.pagerduty.tasks.sweep", "schedule": 2.0, "options": {"expires": 2}},
        "look-at-pages": {"task": "workflows.tasks.look_at_pages", "schedule": 60.0, "options": {"expires": 60}},
        "watch-members": {"task": "workflows.tasks.watch_members", "schedule": 45.0, "options": {"expires": 45}},
        "audit": {"task": "workflows.tasks.audit", "schedule": 300.0, "options": {"expires": 300}},
        "forget-alerts": {"task": "workflows.tasks.forget_alerts", "schedule": 3600.0, "options": {"expires": 3600}},
        "refresh-directory": {
            "task": "workflows.tasks.refresh_directory",
            "schedule": 60.0,
            "options": {"expires": 60},
        },
        "keep-groups": {"task": "workflows.tasks.keep_groups", "schedule": 5.0, "options": {"expires": 5}},
        "refresh-on-call": {"task": "workflows.tasks.refresh_on_call", "schedule": 5.0, "options": {"expires": 5}},
    },
}

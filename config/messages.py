"""How work is spread, and what runs on a beat.

Rows in PostgreSQL are the truth and messages are hints. The broker may lose every one of them: the sweep
finds what is due. So nothing that matters is kept, retried or delayed by the broker.
"""

from dataclasses import dataclass
from typing import Any, Final

from config import broker, env

# The queues: the first is where everything goes that is not routed.
EFFECTS, EVIDENCE = "celery", "evidence"
ROUND: Final = "config.round"


@dataclass(frozen=True, slots=True)
class Ring:
    """What a worker is asked to look after, and how often in seconds: a task, or several in one message."""

    every_s: float
    task: str
    arguments: tuple[str, ...] = ()


# Most looks find nothing, and the message costs more than they do: what is due as often goes in one.
RINGS: Final = {
    "often": Ring(
        2.0,
        ROUND,
        (
            "workflows.tasks.sweep",
            "integrations.slack.tasks.redraw_homes",
            "integrations.pagerduty.tasks.sweep",
            "workflows.tasks.keep_groups",
            "workflows.tasks.refresh_on_call",
        ),
    ),
    "each-minute": Ring(
        60.0,
        ROUND,
        ("workflows.tasks.look_at_pages", "workflows.tasks.look_at_tickets", "workflows.tasks.refresh_directory"),
    ),
    "read-evidence": Ring(5.0, "evidence.tasks.sweep"),
    "audit": Ring(300.0, "workflows.tasks.audit"),
    "each-hour": Ring(3600.0, ROUND, ("workflows.tasks.forget_alerts", "workflows.tasks.remind")),
}
# What keeps promises while others work, the beat's own process does: under load the rest waits, and this does not.
KEPT_BY_BEAT: Final = {
    "audit.tasks.seal": 5.0,
    "audit.tasks.publish": 900.0,
    "workflows.tasks.watch_members": 45.0,
}


def _entry(ring: Ring) -> dict[str, Any]:
    """Return what the beat sends; nobody takes it once the next one is due."""
    return {
        "task": ring.task,
        "schedule": ring.every_s,
        "args": ring.arguments,
        "options": {"expires": ring.every_s},
    }


BROKER_URL: Final = env.load().broker_url
CONFIGURATION = {
    "broker_url": BROKER_URL,
    **broker.sending(BROKER_URL, queues=(EFFECTS, EVIDENCE)),
    # A hint that cannot be sent immediately is dropped: declaring an incident never waits for the broker.
    "broker_connection_timeout": 1,
    "task_publish_retry": False,
    "broker_connection_retry_on_startup": True,
    "broker_connection_max_retries": None,  # the worker waits for its broker as long as it takes
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
    "task_routes": {
        "evidence.tasks.*": {"queue": EVIDENCE},
        "workflows.tasks.measure": {"queue": EVIDENCE},
    },
    # All intervals are short and every task is safe to run twice, so beat needs no memory of its own.
    "beat_scheduler": "config.process.ringing:RingScheduler",
    "beat_schedule": {name: _entry(one) for name, one in RINGS.items()},
}

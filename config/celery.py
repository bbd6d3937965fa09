"""The Celery application: how work is spread, and what runs on a beat.

Rows in PostgreSQL are the truth and messages are hints. The broker may lose every one of them: the sweep
finds what is due. So nothing here is kept, retried or delayed by the broker.
"""

import os

from celery import Celery
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("firekind")
app.conf.update(
    broker_url=settings.FIREKIND.redis_url,
    # A hint that cannot be sent at once is not sent: whoever declares an incident never waits for the broker.
    broker_connection_timeout=1,
    task_publish_retry=False,
    broker_connection_retry_on_startup=True,
    broker_transport_options={
        "visibility_timeout": 300,
        "unacked_restore_interval": 10,
        "unacked_restore_throttle": 1,
        "socket_connect_timeout": 1,
        "socket_timeout": 5,
        "socket_keepalive": True,
    },
    # A task ends before it is acknowledged, and one whose worker died comes back.
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    worker_prefetch_multiplier=1,
    worker_cancel_long_running_tasks_on_connection_loss=True,
    worker_hijack_root_logger=False,
    task_ignore_result=True,
    task_serializer="json",
    accept_content=["json"],
    timezone="UTC",
    # All intervals are short and every task is safe to run twice, so beat needs no memory of its own.
    beat_scheduler="celery.beat:Scheduler",
    beat_schedule={
        "sweep": {"task": "workflows.tasks.sweep", "schedule": 5.0, "options": {"expires": 5}},
        "audit": {"task": "workflows.tasks.audit", "schedule": 300.0, "options": {"expires": 300}},
        "refresh-directory": {
            "task": "workflows.tasks.refresh_directory",
            "schedule": 120.0,
            "options": {"expires": 120},
        },
    },
)
app.autodiscover_tasks()

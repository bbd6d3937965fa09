"""Killing a worker at every named point of what it does, without waiting for what the clock does by itself."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
from celery import Celery

from config.messages import CONFIGURATION
from stack.running import Stack
from workflows.effects import failpoints
from workflows.planning.actions import EVIDENCE, KINDS

PATIENCE_S = 180  # a busy machine
SLOW = [name for name, kind in KINDS.items() if kind.queue == EVIDENCE]
# The claims of whoever was killed, as they stand once their time is over; those of the living are left alone.
LAPSE = """
    UPDATE workflows_effect SET leased_until = now() - interval '1 second'
     WHERE state = 'running' AND (kind = ANY(%s)) = %s
"""


def killed_at_every_point(
    stack: Stack, kind: str, *, process: str = "worker", after_each: Callable[[], None] = lambda: None
) -> None:
    """Have a process die at each point around one kind of effect, taking up each time what the last one left."""
    for point in failpoints.POINTS:
        killed(stack, f"{point}:{kind}", process=process)
        after_each()
    started(stack, process)


def killed(stack: Stack, at: str, *, process: str = "worker") -> None:
    """Start a process, have it die there, and let its claims run out."""
    stack.start(process, env={"FIREKIND_CRASH_AT": at})
    hint(stack)
    assert stack.wait_exit(process, timeout_s=PATIENCE_S) == -9
    with psycopg.connect(stack.database_url) as database:
        database.execute(LAPSE, [SLOW, process == "evidence"])


def started(stack: Stack, process: str = "worker") -> None:
    """Start a process, which finds at once what is due."""
    stack.start(process)
    hint(stack)


def hint(stack: Stack) -> None:
    """Have the sweep go round now, and not only when the beat rings next."""
    with Celery("tests", fixups=[], set_as_current=False) as app:
        app.conf.update({**CONFIGURATION, "broker_url": stack.env["REDIS_URL"]})
        app.send_task("workflows.tasks.sweep")

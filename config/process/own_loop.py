"""What a worker does while it hears nothing from the broker: it looks for work by itself, and does it here.

The broker may be away, frozen or cut off, or the beat that rings may be. Leases and fencing tokens hold whoever does
what, so two that look at once do no harm.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from datetime import datetime
from typing import Any, Final

from celery import signals
from celery.worker import state
from django.db import Error, connection
from django.utils import timezone

from config.celery import app
from config.messages import CONFIGURATION, EVIDENCE
from incidents.outages import hint_sender
from incidents.outages.hint_sender import HintTask
from workflows.effects.keyed_executor import Aside
from workflows.status import workers

log = logging.getLogger(__name__)

LOOK_S: Final = 1.0
SILENCE_S: Final = 4.0  # at least; twice what lies between two rings of the beat, where that is longer
OFTEN_S: Final = 5.0  # what is due at least so often is done at once
AT_ONCE: Final = 8
# Not on the beat, which rings the sweep of all effects: evidence's own part of it.
MORE: Final = {EVIDENCE: {"workflows.tasks.sweep_captures": 2.0}}
Job = tuple[str, tuple[int, ...]]


class OwnLoop:
    """One worker process's own look for work, in a thread beside the one that asks the broker."""

    def __init__(self, kind: str, *, queue: str, threads: int) -> None:
        self._kind, self._queue = kind, queue
        self._name = f"{kind}@{socket.gethostname()}:{os.getpid()}"
        self._threads = threads
        rung = _rung(queue)
        self._rings = rung | MORE.get(queue, {})
        self._rung = frozenset(rung)
        self._silence_s = max(SILENCE_S, 2 * min(rung.values()))
        self._heard_at = time.monotonic()
        self._due_at: dict[str, float] = {}
        self._alone_since: datetime | None = None
        self._said_at = 0.0
        self._jobs: Aside[Job] = Aside(self._do, at_once=AT_ONCE)

    def start(self) -> None:
        """Begin to listen for silence."""
        signals.task_received.connect(self._heard, weak=False)
        hint_sender.take_here(self._take)
        threading.Thread(target=self._run, name="own loop", daemon=True).start()

    @property
    def is_alone(self) -> bool:
        """Whether no ring was heard for a while, although there was a thread free to take one."""
        if len(state.active_requests) >= self._threads:
            self._heard_at = time.monotonic()
        return time.monotonic() - self._heard_at > self._silence_s

    def _heard(self, request: Any = None, **_: object) -> None:
        if getattr(request, "name", "") in self._rung:
            self._heard_at = time.monotonic()

    def _take(self, task: HintTask, pk: int) -> bool:
        """Do here what a hint asks for, if it is this worker's to do and it is alone."""
        if not self.is_alone or queue_of(task.name) != self._queue:
            return False
        self._jobs.ask((task.name, (pk,)))
        return True

    def _run(self) -> None:
        while True:
            self._see(alone=self.is_alone)
            if time.monotonic() - self._said_at >= workers.EVERY_S:
                self._say_alive()
            if self._alone_since:
                self._look(time.monotonic())
            time.sleep(LOOK_S)

    def _see(self, *, alone: bool) -> None:
        if alone == bool(self._alone_since):
            return
        log.warning("hears nothing from the broker and looks for work itself" if alone else "hears the broker again")
        self._alone_since, self._due_at, self._said_at = timezone.now() if alone else None, {}, 0.0

    def _say_alive(self) -> None:
        at = timezone.now()
        try:
            workers.say_alive(self._name, kind=self._kind, alone_since=self._alone_since, at=at)
            if not self._said_at:
                workers.forget_old(at=at)
            self._said_at = time.monotonic()
        except Error as error:
            log.warning("could not say that this process lives: %s", type(error).__name__)
        finally:
            connection.close()

    def _look(self, now: float) -> None:
        for name, every_s in self._rings.items():
            if now >= self._due_at.setdefault(name, now if every_s <= OFTEN_S else now + every_s):
                self._due_at[name] = now + every_s
                self._jobs.ask((name, ()))

    def _do(self, job: Job) -> None:
        name, arguments = job
        app.tasks[name](*arguments)


def queue_of(task: str) -> str:
    """Return the queue that a task goes to."""
    return str(app.amqp.router.route({}, task)["queue"].name)


def _rung(queue: str) -> dict[str, float]:
    """Return the seconds between two rings of each task that the beat sends to a queue."""
    rings: Any = CONFIGURATION["beat_schedule"]
    return {one["task"]: one["schedule"] for one in rings.values() if queue_of(one["task"]) == queue}

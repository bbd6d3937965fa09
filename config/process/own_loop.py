"""A process's own look for work: a worker's while it hears nothing from the broker, and always the beat's.

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
from config.messages import EVIDENCE, KEPT_BY_BEAT, RINGS, Ring
from config.process.rounds import jobs
from incidents.outages import hint_sender
from incidents.outages.hint_sender import HintTask
from workflows.status import workers

log = logging.getLogger(__name__)

LOOK_S: Final = 1.0
SILENCE_S: Final = 4.0  # at least; twice what lies between two rings of the beat, where that is longer
OFTEN_S: Final = 5.0  # what is due at least so often is done at once
# Not on the beat, which rings the sweep of all effects: evidence's own part of it.
MORE: Final = {EVIDENCE: [Ring(2.0, "workflows.tasks.sweep_captures")]}
ITS_OWN: Final = [Ring(every_s, task) for task, every_s in KEPT_BY_BEAT.items()]


class OwnLoop:
    """One process's own look for work, in a thread of its own: a worker has a queue, and the beat has none."""

    def __init__(self, kind: str, *, queue: str | None, threads: int = 0) -> None:
        self._kind, self._queue = kind, queue
        self._name = f"{kind}@{socket.gethostname()}:{os.getpid()}"
        self._threads = threads
        rung = [ring for ring in RINGS.values() if queue_of(ring.task) == queue]
        self._rings = rung + MORE.get(queue, []) if queue else ITS_OWN
        self._rung = frozenset(ring.task for ring in rung)
        self._silence_s = max(SILENCE_S, 2 * min((ring.every_s for ring in rung), default=0.0))
        self._heard_at = time.monotonic()
        self._due_at: dict[Ring, float] = {}
        self._alone_since: datetime | None = None
        self._said_at = 0.0
        self._ended = threading.Event()

    def start(self) -> None:
        """Begin to look, or to listen for silence."""
        if self._queue:
            signals.task_received.connect(self._heard, weak=False)
            hint_sender.take_here(self._take)
        threading.Thread(target=self._run, name="own loop", daemon=True).start()

    def stop(self) -> None:
        """Begin nothing more."""
        self._ended.set()

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
        jobs.ask((task.name, (pk,)))
        return True

    def _run(self) -> None:
        while not self._ended.is_set():
            if self._queue:
                self._see(alone=self.is_alone)
            if time.monotonic() - self._said_at >= workers.EVERY_S:
                self._say_alive()
            if self._alone_since or not self._queue:
                self._look(time.monotonic())
            self._ended.wait(LOOK_S)

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
        for ring in self._rings:
            if now >= self._due_at.setdefault(ring, now if ring.every_s <= OFTEN_S else now + ring.every_s):
                self._due_at[ring] = now + ring.every_s
                jobs.ask((ring.task, ring.arguments))


def queue_of(task: str) -> str:
    """Return the queue that a task goes to."""
    return str(app.amqp.router.route({}, task)["queue"].name)

"""A worker's own look for work: the broker's hints only make it faster.

The broker may be away, frozen or cut off. Leases and fencing tokens decide who does what, so several processes may look
at once.
"""

from __future__ import annotations

import math
import os
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from celery import signals
from django.db import DatabaseError, connection
from django.utils import timezone

from config.broker import EFFECTS
from config.celery import app
from config.process import broker_probe, older, own_connection
from config.process.look_runner import LookRunner
from config.process.looks import OWN, SHARED
from incidents.claiming import glance
from incidents.claiming.glance import Glance
from incidents.claiming.keyed_executor import Aside
from incidents.claiming.shared_clock import clock
from incidents.outages import hint_sender
from incidents.outages.hint_sender import HintTask
from workflows.status import shared_looks, workers

GLANCE: Final = "glance"
GLANCE_S: Final = 5.0  # a glance that takes longer is not waited for: each look then asks for itself
TOGETHER_S: Final = 0.25  # looks due this soon after others are taken with them
CLAIM_S: Final = 5.0
BROKER_S: Final = 10.0
FOUND_AT_ONCE: Final = 6  # in addition to what hints bring
Job = tuple[str, int]
KNOWN: Final = (older.round_of_looks,)  # so that messages of an older version are understood


class OwnLoop:
    """Looks regularly for the work of a process's queues, and does it here, in threads of its own.

    ``kinds`` maps each queue to the name of its kind of process.
    """

    def __init__(self, kinds: Mapping[str, str]) -> None:
        self._queues = frozenset(kinds)
        self._names = {f"{kind}@{socket.gethostname()}:{os.getpid()}": kind for kind in kinds.values()}
        self._shared = {look.task: look.every_s for queue in kinds for look in SHARED[queue]}
        self._besides: dict[str, Callable[[], None]] = {
            "say alive": self._say_alive,
            "claim": self._claim,
            GLANCE: self._glance,
        }
        self._every_s = {"say alive": workers.EVERY_S, "claim": CLAIM_S}
        self._every_s |= {look.task: look.every_s for queue in kinds for look in OWN[queue]}
        # Most find nothing: one statement tells which would find something, and only those are taken.
        self._glanced = {task: glance.LOOKS[task] for task in self._every_s if task in glance.LOOKS}
        self._finding = Glance({(task, name): look for task, of in self._glanced.items() for name, look in of.items()})
        self._to_glance: frozenset[str] = frozenset()
        self._glancing_since = math.inf
        if EFFECTS in kinds:  # one kind of process that checks the broker is enough
            self._besides["ask the broker"], self._every_s["ask the broker"] = _ask_the_broker, BROKER_S
        self._due_at = dict.fromkeys(self._every_s, 0.0)
        # As many threads as looks, so that none waits behind others that all wait for the same silent vendor.
        self._looks = LookRunner(self._take, at_once=1 + len(self._every_s) + len(self._shared))
        self._found: Aside[Job] = Aside(_do, at_once=FOUND_AT_ONCE * len(kinds))
        self._is_known = False
        self._ended = threading.Event()

    def start(self) -> None:
        """Start looking."""
        signals.worker_shutting_down.connect(self._stop, weak=False)
        hint_sender.take_here(self._take_hint)
        with suppress(DatabaseError):  # it is measured again soon
            clock.measure()
        connection.close()
        threading.Thread(target=self._run, name="own loop", daemon=True).start()

    def _stop(self, **_: Any) -> None:
        self._ended.set()
        self._looks.end()

    def _take_hint(self, task: HintTask, pk: int) -> bool:
        """Do the work of a hint here, if it belongs to this process."""
        if self._ended.is_set() or queue_of(task.name) not in self._queues:
            return False
        self._found.ask((task.name, pk))
        return True

    def _run(self) -> None:
        while not self._ended.is_set():
            now = time.monotonic()
            due = [name for name, at in self._due_at.items() if at <= now + TOGETHER_S]
            self._due_at |= {name: now + self._every_s[name] for name in due}
            self._looks.ask(self._first(due, now=now))
            self._ended.wait(min(self._due_at.values()) - now)

    def _first(self, due: Sequence[str], *, now: float) -> list[str]:
        """Return the due looks to take, with one glance instead of those that it covers."""
        glanced = [name for name in due if name in self._glanced]
        if not glanced or now - self._glancing_since > GLANCE_S:  # a table is locked, or a connection was cut off
            return list(due)
        self._to_glance = self._to_glance.union(glanced)
        return [GLANCE, *(name for name in due if name not in glanced)]

    def _take(self, name: str) -> None:
        (self._besides.get(name) or app.tasks[name])()

    def _glance(self) -> None:
        self._glancing_since = time.monotonic()
        tasks, self._to_glance = self._to_glance, frozenset()
        found = tasks  # all of them, if the glance fails
        try:
            found = frozenset(task for task, _ in self._finding(at=timezone.now()))
        finally:
            self._glancing_since = math.inf
            self._looks.ask(name for name in self._glanced if name in tasks & found)

    def _claim(self) -> None:
        self._looks.ask(shared_looks.claim(self._shared))

    def _say_alive(self) -> None:
        at = timezone.now()
        with own_connection.kept_for("heartbeats"):
            clock.measure()
            for name, kind in self._names.items():
                workers.say_alive(name, kind=kind, alone_since=hint_sender.broker.open_since, at=at)
            if not self._is_known:
                workers.forget_old(at=at)
                self._is_known = True


def _do(job: Job) -> None:
    name, pk = job
    app.tasks[name](pk)


def _ask_the_broker() -> None:
    """Check the broker, so that the plan's page can report it even if no one sends anything."""
    hint_sender.heard(broker_probe.error())


def queue_of(task: str) -> str:
    """Return the queue that a task goes to."""
    return str(app.amqp.router.route({}, task)["queue"].name)

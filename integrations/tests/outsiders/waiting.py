"""Make people wait for an incident's lock while it becomes private; the lock is held until all of them have arrived."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, TypeVar

from django.db import connection, connections, transaction
from django.utils import timezone

from evidence.models import Evidence
from incidents import lifecycle
from incidents.models import Event, Incident, Participant
from integrations.tests.outsiders.scene import MEMBER, Scene

T = TypeVar("T")
PATIENCE_S: Final = 30
OF_THE_RETYPE: Final = ("retyped", "admitted", "chosen")
BY_HAND: Final = ("picked", "lead", "role", "let-in")
# In this database, because other tests wait for their own locks on the same server. A waiting session holds some lock
# in its database; PostgreSQL's view of sessions would not change during the transaction.
WAITING: Final = """
    SELECT count(DISTINCT pid) FROM pg_locks WHERE NOT granted AND pid IN (
        SELECT l.pid FROM pg_locks l JOIN pg_database d ON d.oid = l.database WHERE d.datname = current_database())
"""


def meanwhile(scene: Scene, incident: Incident, *acts: Callable[[], T]) -> list[T]:
    """Make every act wait for the incident's lock while its member retypes it, and return their results."""
    to, by = scene.house.type("security"), scene.person(MEMBER)
    return behind(lambda: lifecycle.retype(incident, to=to, by=by, at=timezone.now(), because="It is a secret"), *acts)


def behind(first: Callable[[], object], *acts: Callable[[], T]) -> list[T]:
    """Do something, and make every act wait, in order, for the rows that it changed before it commits."""
    begun: list[Future[T]] = []
    with ThreadPoolExecutor(len(acts)) as pool:
        with transaction.atomic():
            first()
            for act in acts:
                begun.append(pool.submit(_let_go, act))
                _wait_for(begun)
        return [one.result(PATIENCE_S) for one in begun]


def done_to(incident: Incident) -> list[Any]:
    """Return what people did to an incident, except the retype and the people it lets in."""
    events = Event.objects.filter(incident=incident).exclude(kind__in=OF_THE_RETYPE).order_by("n")
    by_hand = Participant.objects.filter(incident=incident, reason__in=BY_HAND).order_by("pk")
    evidence = Evidence.objects.filter(incident=incident).order_by("n")
    return [
        *events.values_list("n", "kind", "by"),
        *evidence.values_list("n", "state", "unanswered"),
        *by_hand.values_list("person", "reason"),
    ]


def _let_go(act: Callable[[], T]) -> T:
    try:
        return act()
    finally:
        connections.close_all()


def _wait_for(begun: list[Future[Any]]) -> None:
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        with connection.cursor() as cursor:
            cursor.execute(WAITING)
            if cursor.fetchone()[0] + sum(one.done() for one in begun) >= len(begun):
                return
        time.sleep(0.02)
    raise AssertionError("not everybody came to the lock")

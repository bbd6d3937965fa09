"""A silent vendor delays only what that vendor is asked for, however many incidents wait for an answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import pytest
from django.db import connection
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident
from integrations.pagerduty.tests.straight import StraightTransport
from integrations.slack.tests.straight import StraightWire
from integrations.tests.duty import Duty, pooled_duty
from workflows import tasks
from workflows.effects.effect_queue import HASTY
from workflows.models import Effect, Planned
from workflows.performing import perform
from workflows.planning.actions import EFFECTS, KINDS, of_queue
from workflows.reconcile import reconcile, sweep

THREADS: Final = 16  # as in a worker
INCIDENTS: Final = max(THREADS, *perform.IN_FLIGHT.values()) + 20  # more than there are threads
PATIENCE_S: Final = 60
ASKED: Final = {"chat": (StraightWire, "call"), "pager": (StraightTransport, "handle_request")}


@pytest.fixture(name="duty")
def own_duty(erasable: None, transactional_db: None) -> Iterator[Duty]:
    """A house whose rows other threads see."""
    with pooled_duty() as made:
        yield made


def owed(*ports: str) -> list[str]:
    kinds = of_queue(EFFECTS, ports=ports)
    return list(Effect.objects.filter(kind__in=kinds, state__in=["waiting", "running"]).values_list("key", flat=True))


def is_done(*ports: str, look: Callable[[], None] = lambda: None) -> bool:
    """Wait until every incident is planned and nothing is owed to these ports."""
    for _ in range(PATIENCE_S * 5):
        if Planned.objects.count() == INCIDENTS and not owed(*ports):
            return True
        look()
        time.sleep(0.2)
    return False


def look() -> None:
    """Do what a worker's regular look does."""
    for incident in sweep.unplanned(at=timezone.now()):
        tasks.reconcile(incident)
    for incident in sweep.due(at=timezone.now(), kinds=HASTY):
        tasks.drain(incident)


@pytest.mark.slow
@pytest.mark.parametrize(("silent", "planned"), [("chat", False), ("pager", True)])
def test_what_another_vendor_is_asked_for_does_not_wait(
    duty: Duty, monkeypatch: pytest.MonkeyPatch, silent: str, planned: bool
) -> None:
    of, name = ASKED[silent]
    ask, answered = getattr(of, name), threading.Event()

    def held(self: Any, *args: Any, **named: Any) -> Any:
        assert answered.wait(2 * PATIENCE_S)
        return ask(self, *args, **named)

    monkeypatch.setattr(of, name, held)
    dee, major = duty.house.person("dee"), duty.house.type("major")
    declared = [lifecycle.declare(f"Number {n}", by=dee, at=timezone.now(), type=major) for n in range(INCIDENTS)]
    for incident in declared if planned else ():
        reconcile.reconcile(incident.pk, at=timezone.now())

    def carried(incident: Incident) -> None:
        try:
            (tasks.drain if planned else tasks.reconcile)(incident.pk)
        finally:
            connection.close()

    with ThreadPoolExecutor(THREADS) as worker:
        for incident in declared:
            worker.submit(carried, incident)
        try:
            assert is_done(*(port for port in ASKED if port != silent))
            assert owed(silent)
        finally:
            answered.set()
    assert is_done(*ASKED, look=look)


def test_there_are_threads_for_all_that_is_asked_for() -> None:
    assert {kind.port for kind in KINDS.values()} == perform.IN_FLIGHT.keys()
    assert {kind.port for kind in KINDS.values() if kind.queue == EFFECTS} == tasks.LANES.keys()

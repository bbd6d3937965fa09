"""A worker whose system has no thread to spare still carries out what is pending, one step after the other."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.utils import timezone

from incidents import lifecycle
from integrations.tests.house import House
from workflows.models import Effect
from workflows.performing import perform
from workflows.reconcile import reconcile

ROUNDS = 10


@pytest.fixture
def no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no thread be started, in a process that has none to carry out effects."""

    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    pools = {port: ThreadPoolExecutor(most) for port, most in perform.IN_FLIGHT.items()}
    monkeypatch.setattr(perform, "_pools", pools)
    monkeypatch.setattr(threading.Thread, "start", start)


@pytest.mark.usefixtures("no_threads")
def test_what_is_pending_is_carried_out_without_a_single_thread(house: House) -> None:
    incident = lifecycle.declare("Checkout is slow", by=house.person("dee"), at=house.now(), type=house.type("major"))
    reconcile.reconcile(incident.pk, at=timezone.now())
    for _ in range(ROUNDS):
        house.hurry(incident)
        perform.drain(incident.pk)
    effects = Effect.objects.filter(incident=incident)
    assert effects.count() > 3
    assert {one.state for one in effects} <= {Effect.State.DONE, Effect.State.CANCELLED}
    assert "chat.postMessage" in house.writes()

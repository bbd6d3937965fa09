"""How stored webhooks get processed: hints that may be lost, a sweep, and never two tasks on the same incident."""

from __future__ import annotations

import dataclasses
import threading
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.utils import timezone

from incidents.outages import hint_sender
from integrations.pagerduty import tasks
from integrations.pagerduty.models import Webhook
from integrations.pagerduty.tests import posted
from integrations.pagerduty.tests.posted import Door, event, incident
from integrations.pagerduty.webhooks import inbox

HELD = "SELECT pg_advisory_xact_lock(hashtext('pagerduty.inbox'), hashtext('PI1'))"


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the webhooks that a worker was hinted about or a look found."""
    sent: list[int] = []
    monkeypatch.setattr(tasks, "_send", sent.append)
    monkeypatch.setattr(hint_sender, "found", lambda task, pk, *, fresh_s: sent.append(pk))
    return sent


@pytest.fixture
def door(db: None, settings: Any) -> Door:
    settings.FIREKIND = dataclasses.replace(settings.FIREKIND, pagerduty=posted.GIVEN)
    return Door()


def test_what_is_hinted_is_acted_on_with_all_that_waits(door: Door, sent: list[int]) -> None:
    for n in range(3):
        door.send(event("priority_updated", incident(f"PI{n}")))
    first = Webhook.objects.earliest("pk")
    tasks.take(first.pk)
    assert set(Webhook.objects.values_list("state", flat=True)) == {"done"}


def test_the_sweep_finds_what_the_lost_hints_were_about(door: Door, sent: list[int]) -> None:
    tasks.sweep()
    assert sent == []
    door.send(event("priority_updated"))
    tasks.sweep()
    assert sent == [Webhook.objects.get().pk]


def test_what_somebody_else_acts_on_is_left_alone_and_the_rest_is_not(door: Door, sent: list[int]) -> None:
    door.send(event("priority_updated", incident("PI1")))
    door.send(event("priority_updated", incident("PI2")))
    values = connection.get_connection_params()
    given = {name: values[name] for name in ("dbname", "user", "password", "host", "port") if values.get(name)}
    with psycopg.connect(**given) as other:
        other.execute(HELD)
        assert door.work() == 1
        assert Webhook.objects.get(state="waiting").page_id == "PI1"
    assert door.work() == 1


def test_enough_who_act_are_not_joined_by_more_and_go_on_for_those_who_came(
    door: Door, sent: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds: list[int] = []

    def take_all() -> None:
        rounds.append(1)
        if len(rounds) == 1:  # another hint arrives while this task runs, and finds no free slot
            tasks.take(2)

    monkeypatch.setattr(tasks, "_taking", threading.Semaphore(1))
    monkeypatch.setattr(tasks, "_take_all", take_all)
    tasks.take(1)
    assert len(rounds) == 2


def test_hints_in_a_row_are_one(sent: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    due: list[Any] = []

    class Timer:
        daemon = False

        def __init__(self, wait_s: float, do: Any, values: tuple[int]) -> None:
            waits.append(wait_s)
            self.do, self.values = do, values

        def start(self) -> None:
            due.append(lambda: self.do(*self.values))

    monkeypatch.setattr(threading, "Timer", Timer)
    hints = tasks._Hints()
    for n in (1, 2, 3):
        hints.ask(n)
    due.pop()()
    hints.ask(4)
    due.pop()()
    assert sent == [1, 4]
    assert waits[0] == 0
    assert 0 < waits[1] <= tasks.APART_S


def test_what_is_not_due_yet_waits(door: Door, sent: list[int]) -> None:
    door.send(event("priority_updated"))
    Webhook.objects.update(due_at=timezone.now() + timedelta(minutes=1))
    assert inbox.waiting(at=timezone.now()) is None
    assert door.work() == 0
    assert door.work(after_s=120) == 1

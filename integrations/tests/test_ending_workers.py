"""A worker that is asked to stop claims no more than it does: the rest is left for the next one, and was never sent."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from typing import Final

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.claiming import stopping
from incidents.models import Incident
from integrations.slack.fake import FakeSlack
from integrations.tests.house import House, house
from workflows.channels import membership, room_looks
from workflows.models import Effect
from workflows.performing import perform
from workflows.reconcile import reconcile


def test_what_no_thread_takes_any_more_is_given_back(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    incident = lifecycle.declare("Slow", by=house.person("dee"), at=house.now(), type=house.type("ambiguous"))
    reconcile.reconcile(incident.pk, at=timezone.now())
    with monkeypatch.context() as ending:
        ending.setattr("concurrent.futures.thread._shutdown", True)
        perform.drain(incident.pk)
    assert not Effect.objects.filter(incident=incident, unsure=True).exists()
    assert not Effect.objects.filter(incident=incident, state="running").exists()
    house.settle(incident)
    assert not Effect.objects.filter(incident=incident).exclude(state="done").exists()
    assert len(house.slack.texts("incidents")) == 1


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """What tells a worker that it was asked to stop."""
    event = threading.Event()
    monkeypatch.setattr(stopping, "_asked", event)
    return event


def turning_private(house: House) -> Incident:
    """Return an incident that was retyped to a private type, planned and not yet carried out."""
    incident = house.settle(house.declare())
    house.confirm(incident, "security", by="dee")
    reconcile.reconcile(incident.pk, at=timezone.now())
    return incident


def ask(asked: threading.Event, moments: list[datetime]) -> None:
    """Ask the worker to stop, and note when."""
    moments.append(timezone.now())
    asked.set()


@contextmanager
def at_call(slack: FakeSlack, n: int, do: Callable[[], object]) -> Iterator[None]:
    """Do something during the n-th call from now on."""
    call, made = slack.call, 0

    def counted(*given: object, **named: object) -> object:
        nonlocal made
        made += 1
        if made == n:
            do()
        return call(*given, **named)  # type: ignore[arg-type]

    slack.call = counted  # type: ignore[method-assign,assignment]
    yield
    slack.call = call  # type: ignore[method-assign]


def test_a_worker_asked_to_stop_begins_nothing_else_whatever_it_is_doing(asked: threading.Event, db: None) -> None:
    with house() as made:
        incident = turning_private(made)
        made.slack.calls.clear()
        made.settle(incident)
        calls, said = len(made.slack.calls), sorted(made.writes())
    assert calls > 10
    for n in range(1, calls + 1):
        with house() as made:
            incident, moments = turning_private(made), list[datetime]()
            made.slack.calls.clear()
            with at_call(made.slack, n, partial(ask, asked, moments)):
                perform.drain(incident.pk, side_by_side=False)
            effects = Effect.objects.filter(incident=incident)
            assert not effects.filter(state="running").exists(), n
            assert effects.filter(ended_at__gt=moments[0]).count() <= 1, n
            asked.clear()
            made.settle(incident)
            assert sorted(made.writes()) == said, n


LOOKS: Final[dict[str, Callable[..., object]]] = {"channels": room_looks.look_again, "people": membership.poll_public}


@pytest.mark.parametrize("look", sorted(LOOKS))
def test_a_look_asks_about_nothing_else_once_the_worker_was_asked_to_stop(
    house: House, asked: threading.Event, look: str
) -> None:
    for title in ("Slow", "Slower", "Slowest"):
        house.settle(house.declare(title))
    house.slack.calls.clear()
    LOOKS[look](at=timezone.now())
    assert len(house.slack.calls) >= 3
    house.slack.calls.clear()
    with at_call(house.slack, 1, asked.set):
        LOOKS[look](at=timezone.now() + timedelta(hours=1))
    assert len(house.slack.calls) == 1

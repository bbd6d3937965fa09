"""Alerts that arrive late, as after a backlog: one that is over by then declares nothing, in whatever order."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incidents.models import Incident, IncidentType
from integrations.pagerduty.tests import posted
from integrations.pagerduty.tests.posted import Door
from workflows import ports
from workflows.models import Alert, DeclareRule
from workflows.pager_port import PageStatus
from workflows.tests.oncall.pager import DOWN, LittlePager

LONG_AGO = timedelta(minutes=40)
NEXT = {"triggered": ["acknowledged", "resolved"], "acknowledged": ["resolved"], "resolved": ["reopened"]}
NEXT |= {"reopened": NEXT["triggered"]}
STATUS = {"reopened": "triggered"}


@dataclass(slots=True, eq=False)
class Asked(LittlePager):
    """A pager that reports an alert's status, unless it is away."""

    stands: PageStatus | None = None
    is_away: bool = False
    depth: int = 0  # of the transactions around the test
    in_transaction: list[bool] = field(default_factory=list)

    def look(self, id: str) -> PageStatus | None:
        self.in_transaction.append(len(connection.savepoint_ids) > self.depth)
        if self.is_away:
            raise DOWN
        return self.stands


@pytest.fixture
def ruled(shipped: dict[str, IncidentType]) -> DeclareRule:
    return DeclareRule.objects.create(name="Checkout", type=shipped["major"], created_at=timezone.now())


def told(kind: str, at: datetime) -> dict[str, Any]:
    """Return the news of an alert at a time."""
    return posted.event(kind, posted.incident("PELSE")) | {"occurred_at": at.isoformat()}


@st.composite
def lives(draw: Any) -> list[str]:
    """Draw what happens to an alert."""
    life = ["triggered"]
    for _ in range(draw(st.integers(0, 5))):
        life.append(draw(st.sampled_from(NEXT[life[-1]])))
    return life


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(life=lives(), order=st.randoms(use_true_random=False))
def test_what_is_heard_late_declares_an_incident_only_if_it_is_not_over(
    door: Door, ruled: DeclareRule, life: list[str], order: random.Random
) -> None:
    begun = timezone.now() - LONG_AGO
    news = [told(kind, begun + timedelta(minutes=n)) for n, kind in enumerate(life)]
    last = STATUS.get(life[-1], life[-1])
    ended = (begun + timedelta(minutes=len(life) - 1)).replace(microsecond=0)
    order.shuffle(news)
    with transaction.atomic(), ports.using(pager=Asked(stands=PageStatus("PELSE", last, at=ended))):
        for one in news:
            door.send(one)
            if order.random() < 0.5:
                door.work()
        door.work()
        assert Incident.objects.count() == (last != "resolved")
        assert Alert.objects.get().status == last
        transaction.set_rollback(True)


def test_what_waits_beside_it_says_that_it_is_over_though_nobody_can_be_asked(door: Door, ruled: DeclareRule) -> None:
    begun = timezone.now() - LONG_AGO
    for kind, minutes in (("triggered", 0), ("resolved", 8)):
        door.send(told(kind, begun + timedelta(minutes=minutes)))
    door.work()
    assert not Incident.objects.exists()


@pytest.mark.parametrize(
    ("pager", "asked"),
    [(None, 0), (Asked(is_away=True), 1), (Asked(stands=None), 1), (Asked(stands=PageStatus("PELSE", "triggered")), 1)],
)
def test_what_nobody_says_is_over_declares_however_late_it_is(
    door: Door, ruled: DeclareRule, pager: Asked | None, asked: int
) -> None:
    door.send(told("triggered", timezone.now() - LONG_AGO))
    with ports.using(pager=pager):
        door.work()
    assert Incident.objects.count() == 1
    assert pager is None or len(pager.in_transaction) == asked


def test_what_is_heard_in_time_is_not_asked_about(door: Door, ruled: DeclareRule) -> None:
    pager = Asked()
    door.send(told("triggered", timezone.now() - timedelta(minutes=1)))
    with ports.using(pager=pager):
        door.work()
    assert (Incident.objects.count(), pager.in_transaction) == (1, [])


def test_nothing_is_held_while_the_pager_is_asked_and_one_that_is_away_is_asked_once(
    door: Door, ruled: DeclareRule
) -> None:
    pager = Asked(is_away=True, depth=len(connection.savepoint_ids))
    for id in ("PA", "PB", "PC"):
        door.send(told("triggered", timezone.now() - LONG_AGO) | {"data": posted.incident(id, service={"id": id})})
    with ports.using(pager=pager):
        door.work()
    assert Incident.objects.count() == 3
    assert pager.in_transaction == [False]

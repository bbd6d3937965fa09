"""A row on which our code fails again and again keeps no other row from its turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.db import OperationalError
from django.utils import timezone

from incidents import lifecycle
from incidents.claiming import apart
from incidents.drills import replays
from incidents.lifecycle import access, misses
from incidents.models import Event, Incident, Knock, Miss, Notice, Replay
from incidents.second_manager import notices
from integrations.tests.house import House
from workflows import tasks
from workflows.reconcile import missed, sweep
from workflows.usergroups import workspace_cache


def ended() -> OperationalError:
    """Return the error of a row that always takes longer than the database allows."""
    error = OperationalError("canceling statement due to statement timeout")
    error.__cause__ = psycopg.errors.QueryCanceled("canceling statement due to statement timeout")
    return error


BREAKS = [ValueError("a fault of ours"), Incident.DoesNotExist("gone"), RuntimeError("can't start new thread"), ended()]


@dataclass(frozen=True, slots=True)
class Queue:
    """Rows that a look acts on: how to create two, where it fails, and whether the later one was processed."""

    filled: Callable[[House], object]
    breaks: str  # the full name of the function that acts on one
    look: Callable[[], object]
    is_done: Callable[[], bool]


def _overdue(house: House) -> None:
    for _ in range(2):
        house.declare(type="major")
    Incident.objects.update(update_due_at=timezone.now())


def _replays(house: House) -> None:
    at = timezone.now()
    for _ in range(2):
        incident = house.declare()
        Incident.objects.filter(pk=incident.pk).update(replays=house.declare().pk, is_drill=True)
        shape = {"until_n": 1, "speed": 10, "silence_s": 60, "thinking_s": 60}
        Replay.objects.create(incident=incident, shown_at=at, due_at=at, **shape)


def _knocks(house: House) -> None:
    for handle in ("out", "eve"):
        Knock.objects.create(person=house.person(handle), codename="some-name", because="", at=house.now())


def _notices(house: House) -> None:
    for says in ("one", "two"):
        Notice.objects.create(to="", says=says, at=house.now())


def _misses(house: House) -> None:
    at = timezone.now()
    for _ in range(2):
        Miss.objects.create(person=house.person("eve"), at=at, tell_at=at)


QUEUES = {
    "overdue updates": Queue(
        _overdue,
        "incidents.lifecycle.update_fell_due",
        lambda: sweep.fall_due(at=timezone.now()),
        lambda: Event.objects.filter(kind="due").count() == 1,
    ),
    "replays": Queue(
        _replays,
        "incidents.drills.replays._play",
        lambda: replays.advance(at=timezone.now() + timedelta(hours=1)),
        lambda: Replay.objects.exclude(shown=0).count() == 1,
    ),
    "access requests": Queue(
        _knocks,
        "incidents.lifecycle.access._carry",
        lambda: access.carry(at=timezone.now()),
        lambda: Knock.objects.filter(codename="").count() == 1,
    ),
    "notices": Queue(
        _notices,
        "incidents.second_manager.notices._carry",
        lambda: notices.carry(at=timezone.now()),
        lambda: [one.says for one in Notice.objects.all()] == ["one"],
    ),
    "misses": Queue(
        _misses,
        "workflows.reconcile.missed._told",
        lambda: missed.tell_managers(at=timezone.now()),
        lambda: misses.to_tell(timezone.now() + timedelta(hours=1)).count() == 1,
    ),
}


@pytest.mark.parametrize("error", BREAKS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("name", QUEUES)
def test_a_row_that_breaks_keeps_no_other_from_its_turn(
    house: House, name: str, error: Exception, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    queue = QUEUES[name]
    queue.filled(house)
    where, _, function = queue.breaks.rpartition(".")
    module = {one.__name__: one for one in (lifecycle, replays, access, notices, missed)}[where]
    acts, broken = getattr(module, function), list[object]()

    def breaks_at_the_first(*args: Any, **more: Any) -> object:
        if not broken:
            broken.append(True)
            raise error
        return acts(*args, **more)

    monkeypatch.setattr(module, function, breaks_at_the_first)
    queue.look()
    assert queue.is_done()
    assert [one for one in caplog.records if one.name == apart.__name__], "it is not passed over in silence"


def test_what_a_sweep_carries_goes_on_where_one_of_it_breaks(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    for filled in (_overdue, _knocks, _notices):
        filled(house)
    done: list[str] = []

    def broken(at: object) -> int:
        raise ValueError

    carried = {name: lambda at, name=name: done.append(name) for name in tasks.CARRIED}
    first, *rest = ("overdue", "access requests", "notices")
    monkeypatch.setattr(tasks, "CARRIED", carried | {first: broken})
    tasks.sweep()
    assert done == rest


def test_the_sweep_asks_no_vendor(house: House) -> None:
    """A silent vendor would otherwise delay, for as long as it is silent, what lost hints were about."""
    for filled in (_overdue, _knocks, _notices, _misses):
        filled(house)
    workspace_cache.mark_stale()
    house.slack.calls.clear()
    tasks.sweep()
    assert not list(house.slack.calls)

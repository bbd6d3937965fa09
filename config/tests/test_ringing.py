"""The beat sends every ring, and sleeps in between."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from celery.schedules import schedule

from config.celery import app
from config.messages import RINGS
from config.process.ringing import RingScheduler

AT_LEAST_S = 0.0001  # that a look takes, and a sleep is longer than asked for


class Clock:
    """A clock that goes on only when it is told to."""

    def __init__(self) -> None:
        self.at = datetime(2026, 3, 2, 3, 4, 5, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at


def test_between_two_rings_the_beat_wakes_hardly_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, sent = Clock(), list[str]()
    rings = RingScheduler(app=app, lazy=True)
    entries = {
        name: {"task": ring.task, "schedule": schedule(ring.every_s, nowfun=clock, app=app)}
        for name, ring in RINGS.items()
    }
    rings.update_from_dict(entries)
    monkeypatch.setattr(rings, "apply_entry", lambda entry, producer=None: sent.append(entry.name))
    rings.tick()
    sent.clear()
    began, looks = clock.at, 0
    while clock.at - began < timedelta(minutes=2):
        clock.at += timedelta(seconds=max(rings.tick() or 0.0, 0.0) + AT_LEAST_S)
        looks += 1
    for name, ring in RINGS.items():
        assert sent.count(name) == pytest.approx(120 / ring.every_s, abs=2, rel=0.01), name
    assert looks <= 4 * len(sent)

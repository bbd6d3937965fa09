"""One statement tells a sweep what waits: exactly what each of its looks would find, at any moment."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import ClassVar

import pytest
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from incidents.models import Incident, Knock, Miss, Notice, Person, Replay
from integrations.tests.house import House
from integrations.tests.house import house as opened
from workflows import tasks
from workflows.models import Planned, Unplanned
from workflows.reconcile import sweep
from workflows.usergroups import workspace_cache

MINUTES = st.none() | st.integers(-3, 3)


def placed(dee: Person, incident: Incident, at: datetime, *, minutes: dict[str, int | None]) -> None:
    """Put what waits around a moment, so many minutes later than it; None is nothing of the kind."""
    then = {name: at + timedelta(minutes=one) for name, one in minutes.items() if one is not None}
    Unplanned.objects.all().delete()
    if "moved" in then:
        Unplanned.objects.create(incident=incident, revision=incident.revision)
    Planned.objects.filter(incident=incident).update(look_again_at=then.get("plan again"))
    Incident.objects.filter(pk=incident.pk).update(update_due_at=then.get("overdue"))
    for name, model, row in (
        ("access requests", Knock, {"person": dee, "codename": incident.codename}),
        ("notices", Notice, {"says": "The group grew"}),
        ("misses", Miss, {"person": dee}),
    ):
        model._default_manager.all().delete()
        if name in then:
            more = {"tell_at": then[name]} if model is Miss else {}
            model._default_manager.create(at=then[name], **row, **more)
    Replay.objects.all().delete()
    if "replays" in then:
        shape = {"until_n": 3, "speed": 10, "silence_s": 60, "thinking_s": 60}
        Replay.objects.create(incident=incident, shown_at=at, due_at=then["replays"], **shape)


class Glances(TestCase):
    """What waits is drawn anew for each example, around one incident."""

    dee: ClassVar[Person]
    incident: ClassVar[Incident]

    @classmethod
    def setUpTestData(cls) -> None:
        with opened() as house:
            cls.dee, cls.incident = house.person("dee"), house.declare()

    @settings(max_examples=60)
    @given(minutes=st.fixed_dictionaries(dict.fromkeys(sweep.LOOKS, MINUTES)), looked=st.integers(-3, 3))
    def test_what_is_said_to_wait_is_what_each_look_would_find(
        self, minutes: dict[str, int | None], looked: int
    ) -> None:
        at = timezone.now()
        placed(self.dee, self.incident, at, minutes=minutes)
        then = at + timedelta(minutes=looked)
        assert sweep.waiting(at=then) == {name for name, look in sweep.LOOKS.items() if look(then).exists()}


def test_a_sweep_acts_on_whatever_waits_and_on_nothing_else(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sweep.LOOKS.keys() == tasks.CARRIED.keys() | {"moved", "plan again"}
    done: list[str] = []
    monkeypatch.setattr(tasks, "CARRIED", {name: lambda at, name=name: done.append(name) for name in tasks.CARRIED})
    monkeypatch.setattr(workspace_cache, "is_known_old", lambda: False)
    incident = house.declare()
    for name in tasks.CARRIED:
        placed(house.person("dee"), incident, house.now() - timedelta(hours=1), minutes={name: 0})
        done.clear()
        tasks.sweep()
        assert done == [name]

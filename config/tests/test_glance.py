"""One statement tells a sweep what waits: exactly what each of its looks would find, at any moment."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, ClassVar

import pytest
from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from config.broker import EFFECTS as EFFECTS_QUEUE
from config.broker import EVIDENCE as EVIDENCE_QUEUE
from config.process import own_loop
from config.process.looks import OWN
from config.process.own_loop import OwnLoop
from evidence import tasks as evidence_tasks
from evidence.intake import digesting, withdrawing
from evidence.models import Evidence
from incidents.claiming import glance
from incidents.claiming.glance import Glance, Moment, Sql
from incidents.claiming.shared_clock import SharedClock, clock
from incidents.lifecycle import misses
from incidents.models import Incident, Knock, Miss, Notice, Person, Replay
from integrations.pagerduty import tasks as pager_tasks
from integrations.pagerduty.fake import FakeAccount
from integrations.pagerduty.models import Webhook
from integrations.pagerduty.tests.straight import pager_on
from integrations.pagerduty.webhooks import inbox
from integrations.slack import tasks as chat_tasks
from integrations.slack.models import OnHome
from integrations.tests.house import House
from integrations.tests.house import house as opened
from stack.outside import until
from workflows import ports, tasks
from workflows.effects.effect_queue import HASTY, SLOW
from workflows.models import DirectoryRead, Effect, GroupRule, PagerRead, Planned, Shift, Unplanned
from workflows.oncall import refresh
from workflows.reconcile import sweep
from workflows.usergroups import sync, workspace_cache

MINUTES = st.none() | st.integers(-3, 3)
KINDS = {EFFECTS_QUEUE: "worker", EVIDENCE_QUEUE: "evidence"}
BESIDES = {"say alive", "claim", "ask the broker"}
ROWS = ("webhooks", "unread", "groups", "member", "capture", "misses")  # that wait, or are held, until a moment
FLAGS = ("withdrawn", "tabs", "workspace")


@pytest.fixture(name="house")
def own_house(db: None) -> Iterator[House]:
    with opened() as made:
        yield made


def placed(dee: Person, incident: Incident, at: datetime, *, minutes: dict[str, int | None]) -> None:
    """Place waiting work around a moment, this many minutes after it; None leaves it out."""
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


def finds(look: QuerySet[Any] | Sql) -> bool:
    """Return whether a look finds anything by itself."""
    if isinstance(look, QuerySet):
        return look.exists()
    with connection.cursor() as cursor:
        cursor.execute(*look)
        return cursor.fetchone() is not None


def placed_beside(incident: Incident, at: datetime, *, minutes: dict[str, int | None], flags: dict[str, bool]) -> None:
    """Place the work of other looks around a moment, as ``placed`` does, and work that waits for no moment."""
    then = {name: at + timedelta(minutes=one) for name, one in minutes.items() if one is not None}
    Webhook.objects.all().delete()
    if "webhooks" in then:
        Webhook.objects.create(key="k", received_at=at, due_at=then["webhooks"])
    Evidence.objects.all().delete()
    kept = {"incident": incident, "title": "CPU", "added_at": at, "original": "one"}
    if "unread" in then:
        Evidence.objects.create(n=1, state="reading", leased_until=then["unread"], **kept)
    if flags["withdrawn"]:
        Evidence.objects.create(n=2, state="withdrawn", **kept)
    GroupRule.objects.all().delete()
    if "groups" in then:
        GroupRule.objects.create(handle="web-oncall", created_at=at, checked_at=at, look_at=then["groups"])
    Effect.objects.exclude(state="done").delete()
    for n, kind in enumerate(("member", "capture")):
        if kind in then:
            state = {"state": "waiting", "due_at": then[kind], "created_at": at, "rank": n, "revision": 1}
            Effect.objects.create(incident=incident, key=f"{kind}/drawn", thing=kind, kind=kind, verb="create", **state)
    incident.private = flags["tabs"]
    incident.save(update_fields=["private"])
    OnHome.objects.get_or_create(incident=incident, chat_id="U1")
    DirectoryRead.objects.update(stale=flags["workspace"])


DECLARING = (tasks, pager_tasks, chat_tasks, evidence_tasks)  # what each look acts on
EVERYTHING = Glance({(task, name): look for task, named in glance.LOOKS.items() for name, look in named.items()})


def acted_on(at: datetime) -> set[tuple[str, str]]:
    """Return what the looks would act on at a moment, by their own queries."""
    would = {
        ("workflows.tasks.follow_workspace", "workspace"): workspace_cache.is_known_old(),
        ("workflows.tasks.tell_of_misses", "misses"): misses.to_tell(clock.at(at)).exists(),
        ("workflows.tasks.sweep", "effects"): bool(sweep.due(at=at, kinds=HASTY)),
        ("workflows.tasks.sweep_captures", "captures"): bool(sweep.due(at=at, kinds=SLOW)),
        ("workflows.tasks.keep_groups", "groups"): bool(sync.due(at=at)),
        ("integrations.pagerduty.tasks.sweep", "webhooks"): inbox.waiting(at=at) is not None,
        ("integrations.slack.tasks.redraw_homes", "tabs"): OnHome.closable().exists(),
        ("workflows.tasks.refresh_on_call", "pager"): False,  # no one is paged here: the test below covers that
        ("evidence.tasks.sweep", "unread"): bool(digesting.waiting(at=at)),
        ("evidence.tasks.sweep", "withdrawn"): bool(withdrawing.owed(at=at)),
    }
    would |= {("workflows.tasks.sweep", name): name in sweep.waiting(at=at) for name in sweep.LOOKS}
    assert would.keys() == {(task, name) for task, named in glance.LOOKS.items() for name in named}
    return {name for name, is_so in would.items() if is_so}


READ = ("shifts", "directory", "start", "end")
SECONDS = st.none() | st.sampled_from([-1000, -900, -899, -200, -31, -30, -29, -1, 0, 1, 29, 30, 31, 899, 900, 1000])


class Glances(TestCase):
    """The waiting work is drawn again for each example, around one incident."""

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
        now = Moment(own=then, shared=clock.at(then))
        assert sweep.waiting(at=then) == {name for name, look in sweep.LOOKS.items() if finds(look(now))}

    @settings(max_examples=60)
    @given(
        minutes=st.fixed_dictionaries(dict.fromkeys([*sweep.LOOKS, *ROWS], MINUTES)),
        flags=st.fixed_dictionaries(dict.fromkeys(FLAGS, st.booleans())),
        looked=st.integers(-3, 3),
        ahead=st.integers(-2, 2),
    )
    def test_a_worker_takes_the_looks_that_would_act_and_no_others(
        self, minutes: dict[str, int | None], flags: dict[str, bool], looked: int, ahead: int
    ) -> None:
        at = timezone.now()
        placed(self.dee, self.incident, at, minutes=minutes)
        placed_beside(self.incident, at, minutes=minutes, flags=flags)
        with pytest.MonkeyPatch.context() as patch:  # a host whose clock is this many minutes ahead
            patch.setattr(SharedClock, "at", lambda _, here: here - timedelta(minutes=ahead))
            assert EVERYTHING(at=at + timedelta(minutes=looked)) == acted_on(at + timedelta(minutes=looked))

    @settings(max_examples=200)
    @given(
        read=st.fixed_dictionaries(dict.fromkeys(("shifts", "directory", "start", "end"), SECONDS)), other=st.booleans()
    )
    def test_whenever_something_of_the_pager_is_due_a_glance_finds_it(
        self, read: dict[str, int | None], other: bool
    ) -> None:
        at = timezone.now()
        then = {name: None if one is None else at + timedelta(seconds=one) for name, one in read.items()}
        pager = pager_on(FakeAccount())
        PagerRead.objects.all().delete()
        connection = "another" if other else pager.connection
        PagerRead.objects.create(shifts_at=then["shifts"], directory_at=then["directory"], connection=connection)
        Shift.objects.all().delete()
        Shift.objects.create(subject="P1", user="U1", start_at=then["start"], end_at=then["end"])
        with ports.using(pager=pager):
            found = finds(refresh.may_be_due(Moment(own=at, shared=at)))
            assert found >= bool(refresh._due(pager, at))


def test_a_sweep_acts_on_whatever_waits_and_on_nothing_else(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sweep.LOOKS.keys() == tasks.CARRIED.keys() | {"moved", "plan again"}
    done: list[str] = []
    monkeypatch.setattr(tasks, "CARRIED", {name: lambda at, name=name: done.append(name) for name in tasks.CARRIED})
    incident = house.declare()
    for name in tasks.CARRIED:
        placed(house.person("dee"), incident, house.now() - timedelta(hours=1), minutes={name: 0})
        done.clear()
        tasks.sweep()
        assert done == [name]


def test_what_a_worker_glances_at_is_what_its_own_looks_are_about() -> None:
    own = {look.task for looks in OWN.values() for look in looks}
    assert own == glance.LOOKS.keys()


@pytest.mark.django_db
def test_what_is_asked_has_no_parameters_so_that_it_is_planned_for_its_values() -> None:
    """A repeated statement with parameters gets a generic plan after ten runs, and then reads whole tables."""
    asked: list[Any] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        asked.append(params)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        EVERYTHING(at=timezone.now())
    assert asked == [None]


class Taken(OwnLoop):
    """Records what would be taken, and glances only once it may."""

    def __init__(self, kinds: dict[str, str], *, found: set[tuple[str, str]]) -> None:
        super().__init__(kinds)
        self.taken: list[str] = []
        self.may_glance = threading.Event()
        self._finding = lambda at: self.may_glance.wait(60) and found  # type: ignore[assignment]  # stands in for it

    def _take(self, name: str) -> None:
        if name == own_loop.GLANCE:
            self._glance()
        else:
            self.taken.append(name)

    def tick(self, now: float) -> None:
        """Take all looks of a process, as it does when they are due."""
        self._looks.ask(self._first([*self._every_s], now=now))


def test_of_what_a_glance_finds_the_looks_are_taken_in_their_order_and_no_others() -> None:
    sweeping, pager = ("workflows.tasks.sweep", "effects"), ("integrations.pagerduty.tasks.sweep", "webhooks")
    loop = Taken(dict(KINDS), found={pager, sweeping})
    loop.may_glance.set()
    loop.tick(time.monotonic())
    until(lambda: len(loop.taken) == len(BESIDES) + 2 and not loop._looks.busy, what="the looks are over")
    assert [one for one in loop.taken if one not in BESIDES] == [sweeping[0], pager[0]]


def test_a_glance_that_does_not_end_holds_no_look_up() -> None:
    """A table may be locked for minutes, or one connection cut off, while the looks' own queries are answered."""
    loop = Taken(dict(KINDS), found=set())
    own = {look.task for looks in OWN.values() for look in looks}
    try:
        loop.tick(time.monotonic())
        until(lambda: loop._glancing_since < time.monotonic(), what="a glance has begun")
        loop.tick(time.monotonic())
        assert not own & {*loop.taken}, "it may be over soon"
        for later in (1, 2):  # another thread takes what still waits at the next tick
            loop.tick(time.monotonic() + own_loop.GLANCE_S + later)
        until(lambda: own <= {*loop.taken}, what="all looks are taken")
    finally:
        loop.may_glance.set()
        until(lambda: not loop._looks.busy, what="the threads end")


def test_an_idle_worker_is_not_to_look_at_a_pager_that_was_just_read(house: House) -> None:
    at, pager = timezone.now(), pager_on(FakeAccount())
    PagerRead.objects.create(shifts_at=at, directory_at=at, connection=pager.connection)
    with ports.using(pager=pager):
        assert not finds(refresh.may_be_due(Moment(own=at, shared=at)))
    assert not finds(refresh.may_be_due(Moment(own=at, shared=at))), "nor where there is none"

"""However many calls of one vendor's method hang, everything that does not need their answers is done."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.claiming.keyed_executor import Lane
from incidents.models import Incident
from incidents.policies import types
from incidents.policies.policy import Capture
from integrations.pagerduty.tests.straight import StraightTransport
from integrations.profilers import fake
from integrations.profilers.profiler import ListedProfiler
from integrations.profilers.sources import Listed
from integrations.slack.tests.straight import StraightWire
from integrations.tests.duty import Duty, pooled_duty
from integrations.tests.house import GROUPS
from integrations.tests.test_group_sync import rule, turn
from integrations.trackers.tests.board import VENDORS
from workflows import ports, tasks
from workflows.effects.effect_queue import HASTY, SLOW
from workflows.models import DirectoryRead, Effect, Planned, Ticket
from workflows.performing import capturing, perform
from workflows.ports import Captured
from workflows.reconcile import retyping, sweep

INCIDENTS: Final = max(*tasks.LANES.values(), *perform.IN_FLIGHT.values()) + 6  # more than there are threads
PATIENCE_S: Final = 60
# What hangs, and the method of the effects that wait for it.
SILENT: Final = {
    "conversations.create": "conversations.create",
    "conversations.invite": "conversations.invite",
    "conversations.setTopic": "conversations.setTopic",
    "chat.postMessage": "chat.postMessage",
    "pins.add": "pins.add",
    "bookmarks.add": "bookmarks.add",
    "POST /incidents": "pager.ring",
    "usergroups.list": "",
    "usergroups.users.update": "",
}


@dataclass(slots=True)
class Silence:
    """Methods that get no answer until they are let go, and what waits for one."""

    methods: set[str] = field(default_factory=set)
    over: threading.Event = field(default_factory=threading.Event)
    held: list[str] = field(default_factory=list)

    def keep(self, method: str) -> None:
        if method in self.methods:
            self.held.append(method)
            assert self.over.wait(3 * PATIENCE_S)


@pytest.fixture(name="duty")
def own_duty(erasable: None, transactional_db: None) -> Iterator[Duty]:
    """A house whose rows other threads see."""
    with pooled_duty() as made:
        yield made


@pytest.fixture(name="silence")
def own_silence(duty: Duty, monkeypatch: pytest.MonkeyPatch) -> Iterator[Silence]:
    """Silence that ends with the test; then all is carried out."""
    silence = Silence()
    call, request = StraightWire.call, StraightTransport.handle_request

    def called(self: StraightWire, method: str, **named: Any) -> Any:
        silence.keep(method)
        return call(self, method, **named)

    def requested(self: StraightTransport, one: Any) -> Any:
        silence.keep(f"{one.method} {one.url.path}")
        return request(self, one)

    lanes = {port: Lane(partial(tasks._perform, port), at_once=most, name=port) for port, most in tasks.LANES.items()}
    groups = Lane(tasks._keep_groups, at_once=1, name="groups")
    captures = Lane(partial(tasks._measure, "profiler"), at_once=tasks.CAPTURES_AT_ONCE, name="captures")
    monkeypatch.setattr(tasks, "_lanes", lanes)
    monkeypatch.setattr(tasks, "_grouping", groups)
    monkeypatch.setattr(tasks, "_measuring", {"profiler": captures})
    monkeypatch.setattr(StraightWire, "call", called)
    monkeypatch.setattr(StraightTransport, "handle_request", requested)
    try:
        yield silence
    finally:
        silence.over.set()
    assert until(lambda: not Effect.objects.filter(state__in=["waiting", "running"]).exists())
    for lane in (*lanes.values(), groups, captures):
        lane.end()


def until(done: Callable[[], bool]) -> bool:
    """Take regular looks, as a worker does, until it is done."""
    ends = time.monotonic() + PATIENCE_S
    while time.monotonic() < ends:
        for incident in sweep.unplanned(at=timezone.now()):
            tasks.reconcile(incident)
        for incident in sweep.due(at=timezone.now(), kinds=HASTY):
            tasks.drain(incident)
        for incident in sweep.due(at=timezone.now(), kinds=SLOW):
            tasks.measure(incident)
        if done():
            return True
        time.sleep(0.2)
    return False


def held_up(method: str) -> set[str]:
    """Return what is not done although it needs no answer of this method."""
    owed = list(Effect.objects.filter(state__in=["waiting", "running"]))
    waits = {(one.incident_id, one.key) for one in owed if one.method == method}
    waits |= {(one.incident_id, one.thing) for one in owed if one.method == method}
    for _ in owed:
        more = [one for one in owed if any((one.incident_id, key) in waits for key in (*one.needs, *one.after))]
        waits |= {(one.incident_id, key) for one in more for key in (one.key, one.thing)}
    return {f"{one.incident_id} {one.key}" for one in owed if (one.incident_id, one.key) not in waits}


def declare(duty: Duty, count: int) -> list[Incident]:
    dee, major = duty.house.person("dee"), duty.house.type("major")
    return [lifecycle.declare(f"Number {n}", by=dee, at=timezone.now(), type=major) for n in range(count)]


def groups_are_due() -> None:
    """Have every group be in need of a change, and of being read."""
    turn("ann")
    for handle in GROUPS:
        rule(handle)
    DirectoryRead.objects.update(groups_at=timezone.now() - timedelta(minutes=5))


def turn_private(duty: Duty, incident: Incident) -> None:
    """Retype it, as someone does who looks again at each plan that changed meanwhile."""
    dee, security = duty.house.person("dee"), duty.house.type("security")
    for _ in range(20):
        incident = Incident.objects.get(pk=incident.pk)
        plan = retyping.preview(incident, to=security, by=dee)
        with suppress(retyping.PlanChanged):
            retyping.confirm(incident, to=security, by=dee, at=timezone.now(), digest=plan.digest)
            return
    raise AssertionError("the plan changes all the time")


def is_planned(count: int) -> bool:
    return Planned.objects.count() == count and not sweep.unplanned(at=timezone.now())


@pytest.mark.slow
@pytest.mark.parametrize("silent", SILENT)
def test_what_needs_no_answer_of_a_silent_method_is_done(duty: Duty, silence: Silence, silent: str) -> None:
    groups_are_due()
    silence.methods.add(silent)
    first, *_ = declare(duty, INCIDENTS)
    assert until(lambda: is_planned(INCIDENTS) and not held_up(SILENT[silent])), held_up(SILENT[silent])
    assert silence.held
    turn_private(duty, first)
    declare(duty, 1)
    assert until(lambda: is_planned(INCIDENTS + 1) and not held_up(SILENT[silent])), held_up(SILENT[silent])
    assert not silence.over.is_set()


@pytest.mark.slow
def test_what_another_source_is_asked_for_is_captured(duty: Duty, silence: Silence) -> None:
    class Sources(ListedProfiler):
        def capture(self, source: str, kind: str, *, seconds: int, at: datetime) -> Captured:
            silence.keep(source)
            return super().capture(source, kind, seconds=seconds, at=at)

    def captured(source: str) -> int:
        return Effect.objects.filter(kind="capture", spec__source=source, state="done").count()

    major = duty.house.type("major")
    asked = tuple(Capture(source, "cpu", "declare", 1) for source in ("silent", "quick"))
    types.edit(major, policy=replace(major.policy, captures=asked), by=None, at=timezone.now())
    silence.methods.add("silent")
    with fake.serving(fake.FakePprof()) as url:
        listed = [
            Listed(name, "pprof", f"{url}/debug/pprof", {"cpu": "", "heap": ""}, internal=True)
            for name in ("silent", "quick", "later")
        ]
        with ports.using(chat=duty.house.chat, pager=duty.pager, profiler=Sources(listed, environ={})):
            first, *_ = declare(duty, INCIDENTS)
            assert until(lambda: captured("quick") == INCIDENTS), captured("quick")
            capturing.ask(first, source="later", by=duty.house.person("dee"), at=timezone.now())
            assert until(lambda: captured("later") == 1)
            assert not captured("silent")
            silence.over.set()
            assert until(lambda: captured("silent") == INCIDENTS)


@pytest.mark.slow
def test_a_ticket_is_changed_while_new_ones_are_opened_in_vain(
    duty: Duty, silence: Silence, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, tracker = VENDORS["github"](timezone.now)
    opened = type(tracker).open_ticket

    def kept(self: Any, *args: Any, **named: Any) -> Any:
        silence.keep("open")
        return opened(self, *args, **named)

    monkeypatch.setattr(type(tracker), "open_ticket", kept)
    dee = duty.house.person("dee")
    with ports.using(chat=duty.house.chat, pager=duty.pager, tracker=tracker):
        first, *others = declare(duty, 2 * tasks.LANES["tracker"])
        row = lifecycle.add_followup(first, text="Rotate the keys", by=dee, at=timezone.now())
        assert until(lambda: Ticket.objects.exclude(ref="").count() == 1)
        silence.methods.add("open")
        for incident in others:
            lifecycle.add_followup(incident, text="Write it down", by=dee, at=timezone.now())
        assert until(lambda: not held_up("tracker.open"))
        lifecycle.edit(first, n=row.entry_n, text="Rotate every key", by=dee, at=timezone.now())
        assert until(lambda: Effect.objects.filter(method="tracker.change", state="done").exists())
        assert Ticket.objects.exclude(ref="").count() == 1
        silence.over.set()
        assert until(lambda: Ticket.objects.exclude(ref="").count() == 1 + len(others))

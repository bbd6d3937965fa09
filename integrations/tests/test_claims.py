"""A claim on an effect: how long it holds, and what happens to one that never ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings
from django.db import OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from incidents import lifecycle, timeline
from incidents.lifecycle import rules
from incidents.models import Incident
from incidents.outages import database_watch
from integrations.slack.adapter.client import SlackChat
from integrations.slack.adapter.identity import Identity
from integrations.slack.tests.straight import StraightWire
from integrations.tests.house import TOKEN, House, house
from integrations.tests.outsiders.waiting import WAITING
from workflows import ports
from workflows.effects import effect_queue
from workflows.effects.failing import failures
from workflows.effects.work import Outcome, Work, made
from workflows.models import Effect, Resource
from workflows.performing import perform
from workflows.reconcile import reconcile
from workflows.status import progress


@pytest.fixture(name="house")
def own_house(db: None) -> Iterator[House]:
    """A house of the test's own, because other tests here commit, which a module's house would not survive."""
    with house() as made:
        yield made


def planned(house: House) -> Incident:
    """A planned incident with nothing done yet."""
    incident = lifecycle.declare("Slow", by=house.person("dee"), at=timezone.now(), type=house.type("ambiguous"))
    reconcile.reconcile(incident.pk, at=timezone.now())
    return incident


def claimed(incident: Incident) -> Work:
    return effect_queue.claim(incident.pk, at=timezone.now(), limit=1)[0]


def test_what_waited_too_long_for_a_thread_is_left_to_whoever_took_it_over(house: House) -> None:
    incident = planned(house)
    late = claimed(incident)
    late.effect.leased_until = timezone.now() - timedelta(seconds=1)
    house.hurry(incident)
    assert claimed(incident).effect.pk == late.effect.pk
    house.slack.calls.clear()
    assert not perform.perform(house.chat, late)
    assert not house.writes()


@pytest.mark.parametrize("is_planned", [False, True])
def test_what_waited_for_a_thread_while_it_turned_private_is_not_said(house: House, is_planned: bool) -> None:
    incident = house.settle(planned(house))
    lifecycle.update(incident, text="The keys leaked", by=house.person("dee"), at=timezone.now())
    reconcile.reconcile(incident.pk, at=timezone.now())
    waiting = effect_queue.claim(incident.pk, at=timezone.now(), limit=perform.AT_ONCE)
    lifecycle.retype(incident, to=house.type("security"), by=house.person("dee"), at=timezone.now())
    if is_planned:
        reconcile.reconcile(incident.pk, at=timezone.now())
    house.slack.calls.clear()
    for work in waiting:
        perform.perform(house.chat, replace(work, claimed_s=work.claimed_s - 1))
    assert waiting
    assert not house.writes()

    house.settle(incident)
    public = [one for one in house.slack.workspace.channels.values() if not one.is_private]
    assert not [said.text for one in public for said in one.messages.values() if "The keys leaked" in said.text]


def test_more_is_claimed_after_an_effect_only_while_something_waits(house: House) -> None:
    incident = planned(house)
    with CaptureQueriesContext(connection) as asked, ports.using(chat=house.chat):
        perform.drain(incident.pk, side_by_side=False)
    effects = Effect.objects.filter(incident=incident)
    assert {one.state for one in effects} == {"done"}
    claims = [one for one in asked.captured_queries if "workflows_claim" in one["sql"]]
    # The first, what the channel and the headline let begin, and a last look: others may have recorded meanwhile.
    assert len(claims) < len(effects)


def test_what_waited_long_is_held_anew_before_the_vendor_is_asked(house: House) -> None:
    incident = planned(house)
    work = claimed(incident)
    work.effect.leased_until = timezone.now() + timedelta(seconds=1)
    perform.perform(house.chat, work)
    assert Effect.objects.get(pk=work.effect.pk).state == "done"


def test_an_effect_of_which_workers_die_is_given_up_and_told(house: House) -> None:
    incident = planned(house)
    for _ in range(failures.UNANSWERED):
        house.hurry(incident)
        claimed(incident)
    house.hurry(incident)
    assert not perform.perform(house.chat, claimed(incident))
    failed = [one for one in progress.of(incident).effects if one.state == "failed"]
    assert [one.kind for one in failed] == ["channel"]
    assert "never finished" in failed[0].detail
    assert progress.retry(failed[0].id, incident, by=house.person("dee"), at=timezone.now())
    incident = house.settle(incident)
    assert house.slack.members(house.channel(incident)) == {"firekind", "dee", "ann", "ben", "lea"}


def test_a_channel_is_not_archived_while_anything_is_still_done_in_it(house: House) -> None:
    incident = planned(house)
    held, left = None, [claimed(incident)]
    while left:
        work = left.pop()
        if work.effect.kind == "bookmark":
            held = work
        else:
            left += perform.perform(house.chat, work)
    assert held is not None
    perform.drain(incident.pk, side_by_side=False)
    lifecycle.retype(incident, to=house.type("security"), by=house.person("dee"), at=timezone.now())
    for _ in range(2):
        reconcile.reconcile(incident.pk, at=timezone.now())
        perform.drain(incident.pk, side_by_side=False)
    old = house.slack.channel(house.channel(incident, 1))
    assert Effect.objects.get(incident=incident, key="archived/1#1").state == "waiting"
    perform.perform(house.chat, held)
    house.settle(incident)
    assert old.is_archived
    assert not old.bookmarks
    assert not Effect.objects.filter(incident=incident, state__in=["waiting", "running", "failed"]).exists()


class Slow(StraightWire):
    """A wire on which every call waits until it is released."""

    go: threading.Event

    def call(self, method: str, **arguments: Any) -> dict[str, Any]:
        self.go.wait(60)
        return super().call(method, **arguments)


@contextmanager
def slow(built: House) -> Iterator[threading.Event]:
    """Make every call to the workspace wait until the event is set."""
    wire = Slow(built.slack, token=TOKEN)
    wire.go = threading.Event()
    with ports.using(chat=SlackChat(wire, identity=Identity(wire))):
        yield wire.go
        wire.go.set()


def test_a_call_that_lasts_longer_than_its_lease_keeps_its_claim(
    erasable: None, transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "FIREKIND", replace(settings.FIREKIND, lease_s=3))
    with house() as built:
        incident = planned(built)
        with slow(built) as go:
            draining = threading.Thread(target=_drain, args=(incident,))
            draining.start()
            until = time.monotonic() + 7
            while time.monotonic() < until:
                assert not Effect.objects.filter(incident=incident, token__gt=1).exists()
                assert not _taken_over(incident)
                time.sleep(0.1)
            go.set()
            draining.join()
        assert not Effect.objects.filter(incident=incident).exclude(state="done").exists()
        assert set(Effect.objects.filter(incident=incident).values_list("token", "attempt")) == {(1, 0)}


def test_who_waits_for_other_threads_holds_no_connection_that_these_may_need(
    erasable: None, transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[bool] = []

    class Watched(threading.Condition):
        def wait_for(self, predicate: Any, timeout: float | None = None) -> Any:
            held.append(connection.connection is not None)
            return super().wait_for(predicate, timeout)

    monkeypatch.setattr(perform, "threading", SimpleNamespace(Condition=Watched))
    with house() as built:
        incident = planned(built)
        draining = threading.Thread(target=_drain, args=(incident,))
        draining.start()
        draining.join()
    assert not Effect.objects.filter(incident=incident).exclude(state="done").exists()
    assert held
    assert not any(held)


@pytest.mark.parametrize("off_s", [-60.0, 60.0])
def test_a_claim_holds_although_the_clock_is_set_meanwhile(
    house: House, monkeypatch: pytest.MonkeyPatch, off_s: float
) -> None:
    true_time, true_now = time.time, timezone.now
    with monkeypatch.context() as off:
        off.setattr(time, "time", lambda: true_time() + off_s)
        off.setattr(timezone, "now", lambda: true_now() + timedelta(seconds=off_s))
        incident = planned(house)
        first = effect_queue.claim(incident.pk, at=timezone.now(), limit=1)
    assert len(first) == 1
    taken = {work.effect.pk for work in effect_queue.claim(incident.pk, at=timezone.now(), limit=20)}
    assert first[0].effect.pk not in taken
    later = timezone.now() + effect_queue.CLAIMS.length() + timedelta(seconds=2)
    again = {work.effect.pk for work in effect_queue.claim(incident.pk, at=later, limit=20)}
    assert first[0].effect.pk in again, "and ends when it should"


@pytest.mark.parametrize(("error", "traced"), [(OperationalError("it is away"), False), (KeyError("a slip"), True)])
def test_a_thread_that_the_database_left_alone_says_so_in_one_line(
    house: House,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    traced: bool,
) -> None:
    def fails(*_: object) -> None:
        raise error

    monkeypatch.setattr(database_watch, "answers", lambda: False)
    monkeypatch.setattr(perform, "connection", SimpleNamespace(close=lambda: None))  # the test's own is this thread's
    monkeypatch.setattr(perform._Drain, "_chain", fails)
    work = claimed(planned(house))
    with pytest.raises(type(error)):
        perform._Drain({}, (), side_by_side=True)._aside(work)
    (said,) = [one for one in caplog.records if "was interrupted" in one.message]
    assert bool(said.exc_info) == traced


def _drain(incident: Incident) -> None:
    perform.drain(incident.pk)
    connection.close()


def _taken_over(incident: Incident) -> list[Work]:
    """Claim as another worker would, once the first has had time to start."""
    if not Effect.objects.filter(incident=incident, state="running").exists():
        return []
    return effect_queue.claim(incident.pk, at=timezone.now(), limit=10)


def test_recording_waits_for_planning_without_standing_in_its_way(erasable: None, transactional_db: None) -> None:
    with house() as built:
        incident = planned(built)
        work = claimed(incident)
        recording = threading.Thread(target=_record, args=(work,))
        with transaction.atomic():
            timeline.append(incident, "chosen", at=timezone.now(), text="planning writes an entry")
            recording.start()
            _wait_until_somebody_waits()
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = '2s'")
            Effect.objects.filter(pk=work.effect.pk).update(abandoned=True)
        recording.join()
        assert Effect.objects.get(pk=work.effect.pk).state == "done"


def test_who_changes_an_incident_keeps_nobody_from_adding_what_refers_to_it(
    erasable: None, transactional_db: None
) -> None:
    """Its foreign keys are checked at commit. Planning locks rows that a verb may need, so it would wait there."""
    with house() as built:
        incident = planned(built)
        refused: list[OperationalError] = []

        def add() -> None:
            try:
                with transaction.atomic(), connection.cursor() as cursor:
                    cursor.execute("SET LOCAL lock_timeout = '2s'")
                    Resource.objects.create(incident=incident, key="gap/x", kind="gap", since_at=timezone.now())
            except OperationalError as error:
                refused.append(error)
            finally:
                connection.close()

        adding = threading.Thread(target=add)
        with rules.changing(incident, by=built.person("dee")):
            adding.start()
            adding.join()
        assert not refused
        assert Resource.objects.filter(incident=incident, key="gap/x").exists()


def _record(work: Work) -> None:
    effect_queue.record_done(work, Outcome(says="did it"), at=timezone.now())
    connection.close()


def _wait_until_somebody_waits() -> None:
    for _ in range(3_000):
        with connection.cursor() as cursor:
            cursor.execute(WAITING)
            if cursor.fetchone()[0]:
                return
        time.sleep(0.02)
    raise AssertionError("nobody waits")


@pytest.mark.parametrize("table", ["workflows_effect", "workflows_resource", "incidents_event"])
def test_an_effect_that_ends_while_a_plan_is_being_made_is_not_done_again(house: House, table: str) -> None:
    incident = planned(house)
    running = perform.perform(house.chat, claimed(incident))
    assert len(running) > 1
    lifecycle.update(incident, text="Something new to plan", by=house.person("dee"), at=timezone.now())

    def end_meanwhile(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if running and sql.startswith("SELECT") and f'FROM "{table}"' in sql:
            one = running.pop()
            thing = made(one, external={"ts": "1", "channel_id": "C1"})
            effect_queue.record_done(one, Outcome(there=[thing]), at=timezone.now())
        return execute(sql, params, many, context)

    with connection.execute_wrapper(end_meanwhile):
        reconcile.reconcile(incident.pk, at=timezone.now())
    created = Effect.objects.filter(incident=incident, verb="create").values_list("thing", flat=True)
    assert len(created) == len(set(created))


PLANS = ("enable_hashjoin", "enable_mergejoin", "enable_hashagg", "enable_material", "enable_memoize", "enable_sort")


@pytest.mark.parametrize("off", [PLANS[:n] for n in range(len(PLANS) + 1)], ids=len)
@pytest.mark.parametrize("limit", [1, 3])
def test_no_more_is_claimed_than_was_asked_for_however_the_database_goes_about_it(
    house: House, off: tuple[str, ...], limit: int
) -> None:
    incident = house.declare()
    for n in range(12):
        lifecycle.update(incident, text=f"Update {n}", by=house.person("dee"), at=house.now())
    reconcile.reconcile(incident.pk, at=timezone.now())
    with connection.cursor() as cursor:
        for one in off:
            cursor.execute(f"SET LOCAL {one} = off")
    assert len(effect_queue.claim(incident.pk, at=timezone.now(), limit=limit)) == limit
    with connection.cursor() as cursor:
        cursor.execute("RESET ALL")

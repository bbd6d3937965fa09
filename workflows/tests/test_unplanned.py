"""The database itself records what was not planned yet, whatever process writes the incident or the plan."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from incidents import hints, lifecycle
from incidents.models import Incident, Person
from incidents.tests import shipped
from workflows.models import Effect, PagerUser, Planned, Unplanned
from workflows.oncall import people
from workflows.reconcile import reconcile, sweep

pytestmark = pytest.mark.django_db


@pytest.fixture
def incident() -> Incident:
    shipped.bring()
    return lifecycle.declare("Checkout is slow", by=None, at=timezone.now())


def _plan(incident: Incident, revision: int) -> None:
    Planned.objects.update_or_create(
        incident=incident, defaults={"revision": revision, "at": timezone.now(), "look_again_at": None}
    )


def test_a_declared_incident_waits_for_its_plan(incident: Incident) -> None:
    assert sweep.unplanned(at=timezone.now()) == [incident.pk]
    _plan(incident, incident.revision)
    assert sweep.unplanned(at=timezone.now()) == []


def test_facts_that_moved_while_it_was_planned_still_wait(incident: Incident) -> None:
    before = incident.revision
    Incident.objects.filter(pk=incident.pk).update(revision=F("revision") + 1)
    _plan(incident, before)
    assert sweep.unplanned(at=timezone.now()) == [incident.pk]
    _plan(incident, before + 1)
    assert not Unplanned.objects.exists()


def _many(count: int) -> list[Incident]:
    """Incidents declared one after the other, each by a different person."""
    shipped.bring()
    somebody = Person.objects.create(name="Ann", chat_id="UANN")
    began = timezone.now() - timedelta(hours=1)
    return [lifecycle.declare(f"Case {n}", by=somebody, at=began + timedelta(seconds=n)) for n in range(count)]


def test_what_somebody_waits_for_is_planned_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "PLANNED_AT_ONCE", 4)
    cases = _many(9)
    ids = [one.pk for one in cases]
    now, ann = timezone.now(), Person.objects.get(name="Ann")
    assert sweep.unplanned(at=now)[:2] == [ids[8], ids[7]], "the one just declared"
    assert set(sweep.unplanned(at=now)[2:]) == {ids[0], ids[1]}
    lifecycle.note(cases[4], text="it was the cache", by=ann, at=now)
    lifecycle.resolve(cases[8], by=ann, at=now)
    assert sweep.unplanned(at=now)[:2] == [ids[4], ids[7]], "what people work on comes before what has ended"


def test_where_all_can_be_planned_soon_the_one_just_declared_comes_first_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "TOGETHER", 4)
    ids = [one.pk for one in _many(6)]
    assert sweep.unplanned(at=timezone.now()) == ids[::-1]


def test_each_has_its_turn_whatever_becomes_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "PLANNED_AT_ONCE", 4)
    cases = {one.pk: one for one in _many(11)}
    newest, seen = max(cases), set()
    for _ in range(len(cases)):  # someone acts in the newest, so that it has to be planned each time
        for pk in sweep.unplanned(at=timezone.now()):
            seen.add(pk)
            _plan(cases[pk], cases[pk].revision)
        Incident.objects.filter(pk=newest).update(revision=F("revision") + 1)
        cases[newest].refresh_from_db()
    assert seen == set(cases)


def test_what_leaves_the_facts_as_they_were_asks_for_no_plan(incident: Incident) -> None:
    _plan(incident, incident.revision)
    Incident.objects.filter(pk=incident.pk).update(title="Checkout is down", revision=F("revision"))
    assert sweep.unplanned(at=timezone.now()) == []


def test_a_hint_plans_what_moved_and_nothing_that_somebody_has_planned_since(incident: Incident) -> None:
    assert reconcile.catch_up(incident.pk, at=timezone.now()) is not None
    assert reconcile.catch_up(incident.pk, at=timezone.now()) is None, "a look has found it as well"
    lifecycle.note(incident, text="it was the cache", by=None, at=timezone.now())
    lifecycle.resolve(incident, by=None, at=timezone.now())
    assert reconcile.catch_up(incident.pk, at=timezone.now()) is not None
    assert reconcile.catch_up(incident.pk, at=timezone.now()) is None
    assert sweep.unplanned(at=timezone.now()) == []


def test_a_hint_plans_what_asked_to_be_planned_again_once_that_is_due(incident: Incident) -> None:
    now = timezone.now()
    reconcile.reconcile(incident.pk, at=now)
    Planned.objects.update(look_again_at=now + timedelta(seconds=10))
    assert reconcile.catch_up(incident.pk, at=now) is None
    assert reconcile.catch_up(incident.pk, at=now + timedelta(seconds=10)) is not None


def test_what_depends_on_others_than_itself_is_planned_although_it_did_not_move(incident: Incident) -> None:
    reconcile.reconcile(incident.pk, at=timezone.now())
    Effect.objects.all().delete()  # as if others had changed what should exist
    assert not Unplanned.objects.exists()
    assert reconcile.reconcile(incident.pk, at=timezone.now()).actions


def test_a_person_matched_by_hand_has_every_open_incident_planned_again(
    incident: Incident, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    hinted: list[int] = []
    ended = lifecycle.declare("Search is slow", by=None, at=timezone.now())
    lifecycle.resolve(ended, by=None, at=timezone.now())
    ann, ada = (Person.objects.create(name=name, chat_id=f"U{name}") for name in ("Ann", "Ada"))
    user = PagerUser.objects.create(pager_id="PANN", name="Ann")
    kept = list(hints.again)
    hints.again[:] = [hinted.append]
    try:
        with django_capture_on_commit_callbacks(execute=True):
            people.match(user, person=ann, by=ada, at=timezone.now())
    finally:
        hints.again[:] = kept
    assert hinted == [incident.pk]

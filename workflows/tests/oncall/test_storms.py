"""Pager incidents that join the one that the first of them declared."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial

import pytest
from django.db import connections, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incidents import lifecycle
from incidents.models import Event, Incident, IncidentType, Person
from incidents.tests.conftest import ada, eve, shipped
from workflows.models import Alert
from workflows.tests.oncall.alerted import NINE, at, entries, hear, major, ruled, said

__all__ = ["ada", "eve", "major", "shipped"]


def test_a_storm_joins_the_incident_that_its_first_declared(major: IncidentType) -> None:
    ruled(major, window_min=30)
    assert all(hear(*(said(f"Q{n}", minute=n * 25) for n in range(10))))
    incident = Incident.objects.get()
    assert Alert.objects.filter(incident=incident).count() == 10
    assert len(entries(incident)) == 2
    assert entries(incident)[-1] == "10 alerts so far, the latest from checkout"
    assert Event.objects.filter(kind="alert").latest("n").data["room"] == 0
    assert hear(said("later", minute=225 + 31)) == [True]
    assert Incident.objects.count() == 2


def test_each_service_has_its_own_storm(major: IncidentType) -> None:
    ruled(major)
    hear(said("Q1"), said("Q2", service="payments"), said("Q3", service="payments"), said("Q4"))
    assert Incident.objects.count() == 2


def test_one_that_no_rule_takes_joins_the_storm_of_its_service(major: IncidentType) -> None:
    ruled(major, priority="P1", window_min=10)
    hear(said("Q1"))
    assert hear(said("Q2", priority="P4", minute=9), said("Q3", priority="P4", minute=11)) == [True, False]
    assert hear(said("Q4", priority="P4", service="payments")) == [False]
    assert Alert.objects.get(pager_id="Q2").rule is None


def test_what_ended_is_declared_anew_but_keeps_what_is_heard_late(major: IncidentType) -> None:
    ruled(major)
    hear(said("Q1"))
    first = Incident.objects.get()
    lifecycle.resolve(first, by=None, at=at(5))
    hear(said("Q2", minute=4))
    assert Incident.objects.count() == 1
    hear(said("Q3", minute=6))
    assert Incident.objects.count() == 2
    assert Alert.objects.get(pager_id="Q2").incident == first


def test_what_was_cancelled_as_nothing_is_not_declared_again_by_the_same_storm(major: IncidentType) -> None:
    ruled(major, window_min=30)
    hear(said("Q1"))
    lifecycle.cancel(Incident.objects.get(), by=None, at=at(5), text="a test")
    hear(said("Q2", minute=20), said("Q3", minute=34))
    assert Incident.objects.count() == 1
    hear(said("Q4", minute=36))
    assert Incident.objects.count() == 2


def test_a_duplicates_storm_goes_on_at_the_original(major: IncidentType, ada: Person) -> None:
    ruled(major)
    original = lifecycle.declare("Checkout is slow", by=ada, at=NINE)
    hear(said("Q1"))
    double = Incident.objects.exclude(pk=original.pk).get()
    lifecycle.duplicate(double, of=original, by=ada, at=at(2))
    hear(said("Q2", minute=3))
    assert Alert.objects.get(pager_id="Q2").incident == original
    assert entries(original) == ["Alert from checkout, P1: p95 above 2 s"]


@pytest.mark.parametrize("takes", ["a rule", "no rule"])
@pytest.mark.parametrize("length", [1, 2, 4])
@pytest.mark.parametrize("end", ["open", "resolved"])
def test_a_storm_goes_on_where_people_respond_to_it_however_far_duplicates_lead(
    major: IncidentType, ada: Person, length: int, end: str, takes: str
) -> None:
    ruled(major, priority="P1")
    hear(said("Q1"))
    chain = [Incident.objects.get()]
    for n in range(length):
        chain.append(lifecycle.declare(f"Checkout is slow {n}", by=ada, at=NINE))
        lifecycle.duplicate(chain[-2], of=chain[-1], by=ada, at=at(1 + n / 10))
    if end == "resolved":
        lifecycle.resolve(chain[-1], by=ada, at=at(2))
    known = Incident.objects.count()
    hear(said("Q2", minute=3, priority="P1" if takes == "a rule" else "P4"))
    joined = Alert.objects.get(pager_id="Q2").incident
    if end == "open":
        assert joined == chain[-1], "nobody is paged again for what people respond to"
        assert Incident.objects.count() == known
    else:
        assert joined not in chain, "it is over"


@pytest.mark.parametrize("length", [1, 3])
def test_what_a_private_rule_takes_follows_duplicates_to_a_private_end_alone(
    shipped: dict[str, IncidentType], ada: Person, length: int
) -> None:
    ruled(shipped["security"])
    hear(said("Q1"))
    chain = [Incident.objects.get()]
    for n in range(length):
        chain.append(lifecycle.declare(f"Keys leaked {n}", by=ada, at=NINE))
        lifecycle.duplicate(chain[-2], of=chain[-1], by=None, at=at(1 + n / 10))
    hear(said("Q2", minute=2, title="credentials"))
    assert Alert.objects.get(pager_id="Q2").incident.private  # type: ignore[union-attr]  # it was placed
    lifecycle.retype(chain[-1], to=shipped["security"], by=ada, at=at(3))
    Alert.objects.filter(pager_id="Q2").delete()
    hear(said("Q3", minute=4, title="credentials"))
    assert Alert.objects.get(pager_id="Q3").incident == chain[-1]


def test_what_was_retyped_to_private_keeps_collecting_its_storm_silently(
    shipped: dict[str, IncidentType], ada: Person
) -> None:
    ruled(shipped["major"])
    hear(said("Q1"))
    incident = Incident.objects.get()
    lifecycle.retype(incident, to=shipped["security"], by=ada, at=at(1))
    hear(*(said(f"R{n}", minute=2) for n in range(8)))
    assert Alert.objects.filter(incident=incident).count() == 9
    assert len(entries(incident)) == 1


def test_a_rule_that_became_private_leaves_its_public_storm_alone(shipped: dict[str, IncidentType]) -> None:
    rule = ruled(shipped["major"])
    hear(said("Q1"))
    rule.type = shipped["security"]
    rule.save()
    hear(said("Q2", minute=1, title="credentials"))
    assert Alert.objects.get(pager_id="Q2").incident.private  # type: ignore[union-attr]  # it was placed


@contextmanager
def undone() -> Iterator[None]:
    """Roll back what an example did, so that the next starts fresh."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_order_of_a_storms_alerts_makes_one_incident_a_service(major: IncidentType, data: st.DataObject) -> None:
    one = st.tuples(st.sampled_from("ab"), st.sampled_from(["P1", "P2"]), st.floats(0, 29))
    storm = [
        said(f"Q{n}", kind, service=service, priority=priority, minute=minute + later)
        for n, (service, priority, minute) in enumerate(data.draw(st.lists(one, min_size=1, max_size=10)))
        for kind, later in (("triggered", 0), ("acknowledged", 0.5))
    ]
    order = data.draw(st.permutations(storm))
    with undone():
        ruled(major, "P1", priority="P1", window_min=30)
        ruled(major, "others", window_min=30)
        hear(*order, *order[: len(order) // 2])
        assert Incident.objects.count() == len({(one.page.service, one.page.priority) for one in storm})
        assert not Alert.objects.filter(incident=None).exists()
        assert set(Alert.objects.values_list("status", flat=True)) == {"acknowledged"}
        assert Event.objects.filter(kind="alert", data__room=1).count() == Incident.objects.count()


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(gaps=st.lists(st.integers(0, 60), max_size=12))
def test_a_pause_longer_than_the_window_begins_a_new_storm(major: IncidentType, gaps: list[int]) -> None:
    minute = 0
    with undone():
        ruled(major, window_min=30)
        hear(said("first"))
        for n, gap in enumerate(gaps):
            minute += gap
            hear(said(f"Q{n}", minute=minute))
        assert Incident.objects.count() == 1 + sum(gap > 30 for gap in gaps)


def at_once(*work: Callable[[], object]) -> None:
    """Run all of them in threads of their own, each with a connection, started at the same moment."""
    ready = threading.Barrier(len(work))

    def begin(one: Callable[[], object]) -> None:
        try:
            ready.wait(60)
            one()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(work)) as pool:
        for done in [pool.submit(begin, one) for one in work]:
            done.result(60)


def test_many_who_hear_a_storm_at_once_make_exactly_one_incident(
    erasable: None, transactional_db: None, shipped: dict[str, IncidentType]
) -> None:
    ruled(shipped["major"], priority="P1")
    news = [said(f"Q{n}", minute=n / 60) for n in range(40)]
    parts = [[*news[n::8], news[0]] for n in range(8)]
    at_once(*(partial(hear, *part) for part in parts))
    incident = Incident.objects.get()
    assert Alert.objects.filter(incident=incident).count() == 40
    assert Event.objects.filter(incident=incident, kind="alert").count() == 2  # the first, and the tenth
    over = [said(f"Q{n}", "resolved", minute=5 + n / 60) for n in range(40)]
    at_once(*(partial(hear, *over[n::8]) for n in range(8)))
    assert [text for text in entries(incident) if "Is the incident over?" in text] == [
        "All 40 alerts are resolved in PagerDuty. Is the incident over?"
    ]

"""Incidents of the pager that declare one here, join one, or concern none."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from django.db import connections, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incidents import lifecycle, visibility
from incidents.models import Event, Incident, IncidentType, Person
from incidents.tests.conftest import ada, eve, shipped
from workflows.alerts import intake, matching
from workflows.models import Alert, DeclareRule
from workflows.oncall.pager_events import PagerEvent, PagerIncident, Who

__all__ = ["ada", "eve", "shipped"]

NINE = datetime(2026, 11, 21, 9, tzinfo=UTC)


def at(minutes: float) -> datetime:
    return NINE + timedelta(minutes=minutes)


def said(
    pager_id: str = "Q1",
    kind: str = "triggered",
    *,
    minute: float = 0,
    service: str = "checkout",
    priority: str = "P1",
    title: str = "p95 above 2 s",
    status: str = "",
    url: str = "https://pager.example/incidents/Q1",
) -> PagerEvent:
    page = PagerIncident(
        id=pager_id,
        number=7,
        title=title,
        url=url,
        status=status,
        service_id=f"S-{service}",
        service=service,
        priority=priority,
    )
    return PagerEvent(f"{pager_id}/{kind}/{minute}", kind, at(minute), page, "", "", by=Who("U1", "Robin"))


def hear(*every: PagerEvent) -> list[bool]:
    return [intake.hear(news, at=news.at + timedelta(seconds=1)) for news in every]


def ruled(type: IncidentType, name: str = "Checkout", **values: object) -> DeclareRule:
    given: dict[str, object] = {"position": DeclareRule.objects.count(), "created_at": NINE} | values
    return DeclareRule.objects.create(name=name, type=type, **given)


def entries(incident: Incident) -> list[str]:
    return list(Event.objects.filter(incident=incident, kind="alert").order_by("n").values_list("text", flat=True))


@pytest.fixture
def major(shipped: dict[str, IncidentType]) -> IncidentType:
    return shipped["major"]


@dataclass
class Asked:
    name: str = ""
    service_id: str = ""
    priority: str = ""
    pattern: str = ""


@dataclass
class Came:
    service_id: str = "S1"
    priority: str = "P1"
    title: str = "Checkout p95 above 2 s"


@pytest.mark.parametrize(
    ("rule", "fits"),
    [
        (Asked(), True),
        (Asked(service_id="S1"), True),
        (Asked(service_id="S2"), False),
        (Asked(priority="p1"), True),
        (Asked(priority="P2"), False),
        (Asked(pattern="CHECKOUT"), True),
        (Asked(pattern=r"above \d s$"), True),
        (Asked(pattern="^p95"), False),
        (Asked(service_id="S1", priority="P1", pattern="p9[59]"), True),
        (Asked(service_id="S1", priority="P2", pattern="p9[59]"), False),
        (Asked(pattern="(a"), False),
        (Asked(pattern="(a+)+$"), False),
    ],
)
def test_a_rule_fits_when_all_that_it_names_is_so(rule: Asked, fits: bool) -> None:
    assert matching.fits(rule, Came()) is fits


def test_the_first_rule_that_fits_takes_it() -> None:
    rules = [Asked("payments", service_id="S2"), Asked("slow", pattern="p95"), Asked("any")]
    found = matching.first(rules, Came())
    assert found is not None
    assert found.name == "slow"
    assert matching.first([], Came()) is None


def test_a_hostile_title_does_not_hold_a_rule_up() -> None:
    assert not matching.fits(Asked(pattern="(a+)+$"), Came(title="a" * 500 + "!"))


def test_an_alert_declares_an_incident_of_its_rules_type(major: IncidentType) -> None:
    ruled(major, "Checkout P1", service_id="S-checkout", priority="P1")
    assert hear(said()) == [True]
    incident = Incident.objects.get()
    assert (incident.title, incident.type, incident.services) == ("p95 above 2 s", major, ["checkout"])
    assert incident.declared_by is None
    entry = Event.objects.get(kind="alert")
    assert entry.text == "Alert from checkout, P1: p95 above 2 s (declared by the rule “Checkout P1”)"
    assert (entry.at, entry.link) == (NINE, "https://pager.example/incidents/Q1")
    assert entry.data["room"] == 1


def test_what_no_rule_takes_declares_nothing(major: IncidentType) -> None:
    ruled(major, service_id="S-payments")
    ruled(major, active=False)
    assert hear(said(), said("Q2", kind="acknowledged")) == [False, False]
    assert not Incident.objects.exists()
    assert Alert.objects.count() == 2


def test_a_rule_for_an_archived_type_takes_nothing(major: IncidentType) -> None:
    ruled(major)
    IncidentType.objects.filter(pk=major.pk).update(archived_at=NINE)
    assert hear(said()) == [False]


def test_only_the_beginning_declares(major: IncidentType) -> None:
    ruled(major)
    assert hear(said(kind="noted"), said(kind="acknowledged", minute=1), said(kind="resolved", minute=2)) == [False] * 3
    assert hear(said(minute=0)) == [False], "it had ended when its beginning was heard"
    assert hear(said(kind="reopened", minute=5)) == [True]


def test_a_priority_that_was_raised_declares(major: IncidentType) -> None:
    ruled(major, priority="P1")
    assert hear(said(priority="P3"), said(kind="priority", minute=90)) == [False, True]
    assert hear(said("Q2", minute=100)) == [True]
    assert Incident.objects.count() == 1


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


def test_the_status_follows_and_never_goes_back(major: IncidentType) -> None:
    ruled(major)
    hear(
        said(),
        said(kind="resolved", minute=3),
        said(kind="acknowledged", minute=2),
        said(kind="acknowledged", minute=3),
    )
    alert = Alert.objects.get()
    assert (alert.status, alert.status_by, alert.status_at) == ("resolved", "Robin", at(3))


def test_what_came_before_the_beginning_was_heard_holds(major: IncidentType) -> None:
    ruled(major)
    assert hear(said(kind="acknowledged", minute=1), said(minute=0)) == [False, True]
    assert Alert.objects.get().status == "acknowledged"


def test_when_all_ended_it_asks_once_whether_it_is_over(major: IncidentType) -> None:
    ruled(major)
    hear(said("Q1"), said("Q2", minute=1))
    incident = Incident.objects.get()
    hear(said("Q1", "resolved", minute=2))
    assert len(entries(incident)) == 1
    hear(said("Q2", "resolved", minute=3), said("Q2", "resolved", minute=3), said("Q1", "resolved", minute=2))
    assert entries(incident)[1:] == ["All 2 alerts are resolved in PagerDuty. Is the incident over?"]
    event = Event.objects.filter(kind="alert").latest("n")
    assert event.data == {"ask": "resolve", "room": 1}
    hear(said("Q3", minute=4), said("Q3", "resolved", minute=5))
    assert entries(incident)[2:] == ["All 3 alerts are resolved in PagerDuty. Is the incident over?"]
    incident.refresh_from_db()
    assert incident.is_active


def test_nobody_is_asked_about_what_is_over_already(major: IncidentType) -> None:
    ruled(major)
    hear(said("Q1"))
    incident = Incident.objects.get()
    lifecycle.resolve(incident, by=None, at=at(1))
    hear(said("Q1", "resolved", minute=2))
    assert len(entries(incident)) == 1


def test_what_ended_is_not_asked_about_again_when_something_else_changes(major: IncidentType) -> None:
    ruled(major)
    hear(said("Q1"), said("Q1", "resolved", minute=1), said("Q1", "priority", minute=2, priority="P3"))
    assert len(entries(Incident.objects.get())) == 2
    assert Alert.objects.get().priority == "P3"


def test_what_was_first_heard_of_by_a_note_is_learnt_later(major: IncidentType) -> None:
    ruled(major, service_id="S-checkout")
    note = PagerEvent("n1", "noted", at(5), PagerIncident("Q1", title="[#7] p95 above 2 s"), "", "")
    assert hear(note, said("Q1", minute=0)) == [False, True]
    assert Incident.objects.get().title == "p95 above 2 s"
    assert Alert.objects.get().number == 7


def test_what_was_moved_to_another_service_is_looked_at_again(major: IncidentType) -> None:
    ruled(major, service_id="S-checkout")
    assert hear(said(service="payments"), said(kind="moved", minute=9)) == [False, True]
    assert hear(said(kind="noted", minute=1, title="an older title")) == [True]
    assert Alert.objects.get().title == "p95 above 2 s"


def test_a_rule_for_a_private_type_tells_no_stranger(shipped: dict[str, IncidentType], ada: Person) -> None:
    ruled(shipped["security"], pattern="leak")
    hear(said(title="A token leaked"), said("Q2", title="and another leak"))
    incident = Incident.objects.get()
    assert incident.private
    assert not visibility.may_see(ada, incident)


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


def test_hostile_words_are_kept_harmless(major: IncidentType) -> None:
    ruled(major)
    hear(said(title="a\0b\n\n" + "x" * 700, service="s" * 300, priority="P" * 90, url="javascript:alert(1)"))
    hear(said("Q2", title="\0", service=""))
    alert = Alert.objects.get(pager_id="Q1")
    assert (len(alert.title), alert.url, len(alert.priority)) == (500, "", 40)
    assert Alert.objects.get(pager_id="Q2").title == "An alert of the pager"
    assert Incident.objects.count() == 2


def test_what_concerned_nothing_is_forgotten_after_a_month(major: IncidentType) -> None:
    hear(said("old"), said("new", minute=60 * 24 * 10))
    ruled(major)
    hear(said("joined"))
    assert intake.forget(at=NINE + timedelta(days=32)) == 1
    assert set(Alert.objects.values_list("pager_id", flat=True)) == {"new", "joined"}


@contextmanager
def undone() -> Iterator[None]:
    """Take back what an example did, so that the next begins anew."""
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
    """Do all of it in threads of their own, each with a connection, beginning at the same moment."""
    ready = threading.Barrier(len(work))

    def begin(one: Callable[[], object]) -> None:
        try:
            ready.wait(10)
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

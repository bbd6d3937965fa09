"""Pager incidents that declare one here, or concern none."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import pytest

from incidents import lifecycle, visibility
from incidents.models import Event, Incident, IncidentType, Person
from incidents.tests.conftest import ada, eve, shipped
from workflows.alerts import intake, matching
from workflows.models import Alert
from workflows.oncall.pager_events import PagerEvent, PagerIncident
from workflows.tests.oncall.alerted import NINE, at, entries, hear, major, ruled, said

__all__ = ["ada", "eve", "major", "shipped"]


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

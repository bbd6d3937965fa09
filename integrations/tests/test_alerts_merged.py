"""Alerts that people merge in PagerDuty: the one they are merged into continues, and so does the incident."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from incidents.models import Event, Incident
from integrations.pagerduty.fake import NotPossible, records
from integrations.tests import duty as building
from integrations.tests.duty import Duty
from integrations.tests.test_alerts_looked_at import ALERTS, alarmed, hear, look
from workflows.models import Alert, DeclareRule, Page
from workflows.paging import poll_pages

ELSEWHERE = ALERTS  # opened by a service without a declare rule
OURS = ALERTS + 1  # the page that we opened
ALL = ALERTS + 2
Step = tuple[str, int, int, bool]  # what someone does there, to which, into which, and whether its webhook arrives
steps = st.tuples(
    st.sampled_from(["merge", "merge", "resolve", "acknowledge"]),
    st.integers(0, ALL - 1),
    st.integers(0, ALL - 1),
    st.booleans(),
)


def questions(incident: Incident) -> int:
    return Event.objects.filter(incident=incident, kind="alert", data__ask="resolve").count()


def of_all(duty: Duty, incident: Incident) -> list[records.Incident]:
    """Open one more that concerns no incident; return the account's alerts, that one, and our page."""
    DeclareRule.objects.update(pattern="Errors")
    duty.account.acts.trigger("Major incidents service", title="A customer called")
    hear(duty)
    there = duty.account.account.incidents
    pages = [there[id] for id in Page.objects.filter(incident=incident).values_list("pager_id", flat=True)]
    others = [one for one in there.values() if one not in pages]
    assert len(others) == ALERTS + 1
    return [*others, pages[0]]


def became(duty: Duty, one: records.Incident) -> records.Incident:
    """Return what an incident of the account has become, after all its merges."""
    while one.merged_into:
        one = duty.account.account.incidents[one.merged_into]
    return one


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(story=st.lists(steps, max_size=6))
@example(story=[("merge", 0, 1, True), ("resolve", 1, 0, True)])
@example(story=[("merge", 0, 2, True), ("merge", 1, 2, True), ("resolve", 2, 0, True)])
@example(story=[("merge", 0, 2, False), ("merge", 1, 2, False), ("resolve", 2, 0, False)])
@example(story=[("merge", 0, 3, True), ("resolve", 1, 0, True)])
@example(story=[("merge", 0, 2, True), ("merge", 2, 3, True), ("resolve", 1, 0, False)])
@example(story=[("merge", 0, 3, True), ("merge", 3, 2, True), ("resolve", 1, 0, True)])
@example(story=[("merge", 0, 3, False), ("merge", 3, 2, False), ("resolve", 1, 0, False), ("resolve", 2, 0, False)])
def test_people_are_asked_whether_it_is_over_once_nothing_is_open_that_its_alerts_became(
    built_duty: Duty, db: None, story: Sequence[Step]
) -> None:
    with transaction.atomic(), building.copied(built_duty) as duty:
        incident = alarmed(duty, type="major")
        there = of_all(duty, incident)
        for what, n, into, comes in story:
            try:
                given = [there[into].number, there[n].number] if what == "merge" else [there[n].number]
                getattr(duty.account.acts, what)("max", *given)
            except NotPossible:
                continue
            hear(duty, comes=comes)
        for _ in range(3):  # the target of a merge is read next
            poll_pages.look_again(at=timezone.now() + timedelta(minutes=5))
            look()
        goes_on = any(became(duty, there[n]).is_open for n in range(ALERTS))
        assert bool(questions(incident)) == (not goes_on)
        transaction.set_rollback(True)


def test_what_alerts_were_merged_into_is_an_alert_of_theirs(duty: Duty) -> None:
    incident = alarmed(duty, type="major")
    *alerts, call, _ = of_all(duty, incident)
    duty.account.acts.merge("max", call.number, *(one.number for one in alerts))
    hear(duty)
    mine = Alert.objects.get(pager_id=call.id)
    assert (mine.incident_id, mine.title, mine.rule) == (incident.pk, "A customer called", None)


def test_what_goes_on_as_the_alert_of_another_incident_is_said(duty: Duty) -> None:
    incident = alarmed(duty, type="major")
    *alerts, call, _ = of_all(duty, incident)
    other = duty.house.declare("Customers call")
    Alert.objects.filter(pager_id=call.id).update(incident=other)
    duty.account.acts.merge("max", call.number, *(one.number for one in alerts))
    hear(duty)
    (asked,) = Event.objects.filter(incident=incident, data__ask="resolve")
    assert asked.text == (
        "All 2 alerts are resolved or were merged into another PagerDuty incident. "
        "Is this incident over, or a duplicate?"
    )
    assert not Event.objects.filter(incident=other, data__ask="resolve").exists()

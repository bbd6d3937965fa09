"""Alerts without webhooks: whatever happened to them in the pager, a rule declares once or not at all."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from incidents.models import Event, Incident
from integrations.pagerduty.fake import NotPossible
from integrations.pagerduty.tasks import _take_all as act_on_webhooks
from integrations.pagerduty.webhooks import inbox
from integrations.tests import duty as building
from integrations.tests.duty import Duty
from integrations.tests.test_alerts_looked_at import hear, there
from workflows.effects import restoring
from workflows.models import Alert, DeclareRule, Page, Restored
from workflows.paging import paging, poll_unheard

LATER: Final = timedelta(minutes=2)
SERVICES: Final = ("Engineering service", "Security service")


def ruled(duty: Duty, **values: object) -> DeclareRule:
    given: dict[str, object] = {"name": "Errors", "type": duty.house.type("ambiguous")} | values
    given.setdefault("created_at", timezone.now() - timedelta(days=9))
    return DeclareRule.objects.create(**given)


def look(minutes: float = 2) -> int:
    return poll_unheard.look(at=timezone.now() + timedelta(minutes=minutes))


def opened(duty: Duty, title: str = "Errors on host 1", **how: str) -> str:
    """Open an incident in the account without a webhook."""
    one = duty.account.acts.trigger(how.pop("service", SERVICES[0]), title=title, **how)
    duty.account.take_deliveries()
    return one.id


def placed() -> dict[str, str]:
    """Return which incident each alert is in, by title."""
    return dict(Alert.objects.exclude(incident=None).values_list("title", "incident__title"))


def test_a_rule_declares_it_as_it_would_have_and_once(duty: Duty) -> None:
    ruled(duty, priority="P1")
    duty.account.add_priority("P1")
    opened(duty, priority="P1")
    opened(duty, "Disk is full", service=SERVICES[1])
    assert look(0) == 0, "its webhook may be on its way"
    assert look() == 1
    assert look() == 0
    incident = duty.house.settle(Incident.objects.get())
    alert = Alert.objects.get(incident=incident)
    assert (incident.title, alert.priority, alert.service, alert.rule_id is not None) == (
        "Errors on host 1",
        "P1",
        SERVICES[0],
        True,
    )
    assert Event.objects.filter(incident=incident, kind="alert", text__contains="declared by the rule").count() == 1
    assert any("Errors on host 1" in text for text in duty.house.slack.texts(duty.house.channel(incident)))
    assert Alert.objects.get(title="Disk is full").incident is None


def test_the_webhook_that_comes_after_all_declares_nothing_more(duty: Duty) -> None:
    duty.account.add_subscription(secret="webhook-secret")
    ruled(duty)
    duty.account.acts.trigger(SERVICES[0], title="Errors on host 1")
    late: list[tuple[bytes, str]] = []
    hear(duty, comes=False, late=late)
    assert look() == 1
    before = Event.objects.count()
    for body, key in late:
        inbox.store(body, key=key, at=timezone.now())
        act_on_webhooks()
    assert (Incident.objects.count(), Event.objects.count()) == (1, before)


def test_what_somebody_works_on_there_is_declared_as_acknowledged(duty: Duty) -> None:
    ruled(duty)
    opened(duty)
    duty.account.acts.acknowledge("eve", 1)
    assert look() == 1
    alert = Alert.objects.get()
    assert (alert.status, alert.status_by) == ("acknowledged", "Eve")


@pytest.mark.parametrize("why", ["resolved", "no rule", "rule off", "older than its rule", "old"])
def test_what_no_rule_would_have_taken_declares_nothing(duty: Duty, why: str) -> None:
    if why != "no rule":
        created = timezone.now() + LATER if why == "older than its rule" else timezone.now() - timedelta(days=9)
        ruled(duty, active=why != "rule off", created_at=created)
    opened(duty)
    if why == "resolved":
        duty.account.acts.resolve("eve", 1)
    look(60 * 25 if why == "old" else 3)
    assert not Incident.objects.exists()


def test_pages_of_ours_are_no_alerts_however_they_were_sent(duty: Duty) -> None:
    incident = duty.house.declare(type="major")
    assert Page.objects.filter(incident=incident).exists()
    duty.account.take_deliveries()
    ruled(duty)
    assert look() == 0
    Page.objects.filter(incident=incident).update(pager_id="")
    assert look() == 0
    assert Incident.objects.count() == 1
    assert not Alert.objects.exists()
    assert paging.choices(incident)


def test_what_was_declared_in_moments_that_a_restore_lost_is_not_declared_again(duty: Duty) -> None:
    """People respond to it in a channel that the database lost."""
    ruled(duty)
    duty.house.declare()
    at = timezone.now()
    opened(duty)
    Restored.objects.create(since=at - timedelta(seconds=1), at=at + timedelta(minutes=1))
    assert restoring.lost_since(at=at) is not None
    assert look() == 0
    assert Incident.objects.count() == 1


@pytest.mark.parametrize("fault", ["forbidden", "server_error", "ratelimited", "drop", "drop_before"])
def test_while_the_pager_does_not_answer_nothing_happens_and_it_is_found_later(duty: Duty, fault: str) -> None:
    ruled(duty)
    opened(duty)
    duty.account.faults.add(fault, path="/incidents", times=9)
    assert look() == 0
    duty.account.faults.clear()
    assert look() == 1


Act = tuple[str, int, bool]  # what happens to which of them, and whether its webhook arrives
DOES: Final = ["open", "acknowledge", "resolve", "reopen", "priority", "look"]
acts = st.tuples(st.sampled_from(DOES), st.integers(1, 3), st.booleans())


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(acts, max_size=9), st.sampled_from(["", "P1"]))
@example([("open", 1, False), ("look", 1, True), ("resolve", 1, True), ("open", 2, True)], "")
@example([("open", 1, False), ("acknowledge", 1, True)], "")
@example([("open", 1, True), ("look", 1, True), ("priority", 1, False)], "P1")
def test_whichever_webhooks_come_what_is_open_at_the_end_is_in_an_incident_once(
    duty: Duty, story: list[Act], priority: str
) -> None:
    with transaction.atomic(), building.copied(duty) as copy:
        copy.account.add_subscription(secret="webhook-secret")
        copy.account.add_priority("P1")
        ruled(copy, priority=priority)
        for act, n, comes in story:
            try:
                if act == "open":
                    copy.account.acts.trigger(SERVICES[n % 2], title=f"Errors {n}")
                elif act == "look":
                    look()
                elif act == "priority":
                    copy.account.acts.priority("eve", n, "P1")
                else:
                    getattr(copy.account.acts, act)("eve", n)
            except (NotPossible, LookupError):
                pass
            hear(copy, comes=comes)
        look()
        known = dict(Alert.objects.exclude(incident=None).values_list("pager_id", "pk"))
        wanted = {one.id: bool(one.priority) for one in copy.account.account.incidents.values()}
        still = {id for id, status in there(copy).items() if status != "resolved"}
        assert {id for id in still if wanted[id] or not priority} <= known.keys()
        told = Event.objects.filter(kind="alert", text__contains="declared by the rule")
        assert told.count() == Incident.objects.count()
        before = Incident.objects.count()
        assert look() == 0
        assert Incident.objects.count() == before
        transaction.set_rollback(True)

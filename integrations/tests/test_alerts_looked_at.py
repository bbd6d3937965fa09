"""Alerts whose webhooks are lost: looks find their state, and people are asked whether the incident is over."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from incidents import lifecycle
from incidents.models import Event, Incident
from integrations.pagerduty.fake import NotPossible
from integrations.pagerduty.tasks import _take_all as act_on_webhooks
from integrations.pagerduty.webhooks import inbox
from integrations.tests import duty as building
from integrations.tests.duty import Duty
from workflows.alerts import poll_alerts
from workflows.models import Alert, DeclareRule

ALERTS = 2
ACTS = ("acknowledge", "unacknowledge", "resolve", "reopen")
Step = tuple[str, int, bool]  # what someone does in the pager, to which alert, and whether its webhook ever arrives
steps = st.tuples(st.sampled_from([*ACTS, "resolve", "look"]), st.integers(0, ALERTS - 1), st.booleans())


def hear(duty: Duty, *, comes: bool = True, late: list[tuple[bytes, str]] | None = None) -> None:
    """Receive what the account sends; what does not arrive now may arrive ``late``."""
    sent = [(one.body(), one.key) for one in duty.account.take_deliveries()]
    if comes:
        for body, key in sent:
            inbox.store(body, key=key, at=timezone.now())
        act_on_webhooks()
    elif late is not None:
        late += sent


def look() -> None:
    """Take the next minute's look."""
    Alert.objects.update(joined_at=timezone.now() - timedelta(minutes=1), looked_at=None)
    poll_alerts.look_again(at=timezone.now() + timedelta(minutes=1))


def alarmed(duty: Duty, *, type: str = "ambiguous") -> Incident:
    """Declare an incident by a rule, from an alert that the account opened."""
    duty.account.add_subscription(secret="webhook-secret")
    DeclareRule.objects.create(name="Errors", type=duty.house.type(type), created_at=timezone.now())
    for n in range(ALERTS):
        duty.account.acts.trigger("Engineering service", title=f"Errors on host {n}")
    hear(duty)
    return duty.house.settle(Incident.objects.get())


def numbers(duty: Duty) -> list[int]:
    return [one.number for one in duty.account.account.incidents.values()]


def known() -> dict[str, str]:
    return dict(Alert.objects.values_list("pager_id", "status"))


def there(duty: Duty) -> dict[str, str]:
    return {one.id: one.status for one in duty.account.account.incidents.values()}


def asked(incident: Incident) -> int:
    return Event.objects.filter(incident=incident, text__contains="Is the incident over?").count()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(story=st.lists(steps, max_size=10))
@example(story=[("resolve", 0, False), ("resolve", 1, False)])
@example(story=[("resolve", 0, True), ("look", 0, False), ("reopen", 0, False)])
@example(story=[("acknowledge", 0, False), ("look", 0, False), ("resolve", 0, True), ("reopen", 0, False)])
def test_looks_know_how_alerts_stand_whatever_of_the_webhooks_is_lost_or_late(
    built_duty: Duty, db: None, story: Sequence[Step]
) -> None:
    with transaction.atomic(), building.copied(built_duty) as duty:
        alarmed(duty)
        late: list[tuple[bytes, str]] = []
        for what, n, comes in story:
            if what == "look":
                look()
                continue
            try:
                getattr(duty.account.acts, what)("max", numbers(duty)[n])
            except NotPossible:
                continue
            hear(duty, comes=comes, late=late)
        look()
        assert known() == there(duty)
        for body, key in late:
            inbox.store(body, key=key, at=timezone.now())
        act_on_webhooks()
        look()
        assert known() == there(duty)
        transaction.set_rollback(True)


def test_people_are_asked_once_whether_it_is_over_when_no_webhook_says_so(duty: Duty) -> None:
    incident = alarmed(duty)
    late: list[tuple[bytes, str]] = []
    for number in numbers(duty):
        duty.account.acts.resolve("max", number)
    hear(duty, comes=False, late=late)
    assert asked(incident) == 0
    look()
    assert asked(incident) == 1
    for body, key in late:
        inbox.store(body, key=key, at=timezone.now())
    act_on_webhooks()
    look()
    assert asked(incident) == 1


def test_nobody_is_asked_about_alerts_of_an_incident_that_has_ended(duty: Duty) -> None:
    incident = alarmed(duty)
    lifecycle.resolve(incident, by=None, at=timezone.now())
    duty.account.calls.clear()
    look()
    assert not duty.account.calls
    assert asked(incident) == 0


def test_each_has_its_turn_and_open_ones_wait_for_none_that_ended(duty: Duty) -> None:
    incident, at = alarmed(duty), timezone.now() + timedelta(minutes=5)
    row = {"incident": incident, "title": "Errors", "at": at, "status_at": at}
    for n in range(poll_alerts.ENDED_AT_ONCE * 2):
        Alert.objects.create(pager_id=f"QE{n}", status="resolved", **row)
    for n in range(poll_alerts.AT_ONCE):
        Alert.objects.create(pager_id=f"QO{n}", **row)
    left = []
    for minutes in range(3):
        poll_alerts.look_again(at=at + timedelta(minutes=minutes))
        left.append([Alert.objects.filter(looked_at=None, status=one).count() for one in ("triggered", "resolved")])
    assert left == [[ALERTS, 10], [0, 0], [0, 0]]

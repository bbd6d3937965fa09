"""Someone reopens a page in PagerDuty without a webhook: looks find it, and it ends in time."""

from __future__ import annotations

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
from workflows.effects.effect_queue import HASTY
from workflows.models import Page, Unplanned
from workflows.paging import poll_pages
from workflows.reconcile import sweep

ACTS = ["acknowledge", "unacknowledge", "resolve", "reopen"]
steps = st.sampled_from([*ACTS, "reopen", "resolve", "look", "work", "over"])


def look(duty: Duty) -> None:
    """Take the next minute's look."""
    Page.objects.update(looked_at=timezone.now() - timedelta(minutes=1))
    poll_pages.look_again(at=timezone.now())


def work(duty: Duty, incident: Incident) -> None:
    """Let workers do what is known to wait, without planning anything that was not requested."""
    if Unplanned.objects.filter(incident=incident).exists() or sweep.due(at=timezone.now(), kinds=HASTY):
        duty.house.settle(incident)


def take(duty: Duty, incident: Incident, what: str) -> None:
    """Let one thing happen, as far as possible."""
    (theirs,) = duty.account.account.incidents.values()
    try:
        if what in ACTS:
            getattr(duty.account.acts, what)("max", theirs.number)
        elif what == "look":
            look(duty)
        elif what == "work":
            work(duty, incident)
        else:
            now = Incident.objects.get(pk=incident.pk)
            lifecycle.resolve(now, by=None, at=timezone.now())
    except (NotPossible, lifecycle.Refused):
        return
    finally:
        duty.account.take_deliveries()  # none of them arrives


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(story=st.lists(steps, max_size=12))
@example(story=["acknowledge", "look", "resolve", "look", "reopen"])
@example(story=["acknowledge", "look", "resolve", "look", "reopen", "over", "work"])
@example(story=["resolve", "look", "reopen", "acknowledge"])
def test_looks_alone_know_how_a_page_stands_and_end_it_with_its_incident(
    built_duty: Duty, db: None, story: list[str]
) -> None:
    with transaction.atomic(), building.copied(built_duty) as duty:
        incident = duty.house.declare(type="major")
        for what in story:
            take(duty, incident, what)
        look(duty)
        page, (theirs,) = Page.objects.get(), duty.account.account.incidents.values()
        assert page.status == theirs.status
        take(duty, incident, "over")
        work(duty, incident)
        assert (Page.objects.get().status, theirs.status) == ("resolved", "resolved")
        transaction.set_rollback(True)


def test_what_is_reopened_within_a_second_of_all_before_it_is_found_by_later_looks(duty: Duty) -> None:
    duty.house.declare(type="major")
    (theirs,) = duty.account.account.incidents.values()
    for minutes, what in enumerate(("acknowledge", "resolve", "reopen"), 1):
        getattr(duty.account.acts, what)("max", theirs.number)
        poll_pages.look_again(at=timezone.now() + timedelta(minutes=5 * minutes))
    assert Page.objects.get().status == "triggered"


def test_what_a_look_found_reopened_is_said_once_whatever_comes_late(duty: Duty) -> None:
    incident = duty.house.declare(type="major")
    for what in ("acknowledge", "look", "resolve", "look"):
        take(duty, incident, what)
    (theirs,) = duty.account.account.incidents.values()
    duty.account.add_subscription(secret="webhook-secret")
    duty.account.acts.reopen("max", theirs.number)
    look(duty)
    for delivery in duty.account.take_deliveries():
        inbox.store(delivery.body(), key=delivery.key, at=timezone.now())
    act_on_webhooks()
    said = Event.objects.filter(incident=incident, kind="page", data__news="reopened")
    assert [one.text for one in said] == ["The page to Major incidents was reopened: paging again"]


def test_a_page_that_others_alerts_keep_open_there_is_not_taken_for_reopened(duty: Duty) -> None:
    duty.house.declare(type="major")
    Page.objects.update(status="resolved", status_at=timezone.now() + timedelta(seconds=3))
    look(duty)
    assert Page.objects.get().status == "resolved"


def test_each_ended_page_has_its_turn_and_those_that_ended_long_ago_have_none(duty: Duty) -> None:
    incident = duty.house.declare(type="major")
    lifecycle.resolve(incident, by=None, at=timezone.now())
    at = timezone.now()
    ended = {"incident": incident, "target": "policy/P1", "status": "resolved", "opened_at": at - timedelta(days=3)}
    for n in range(poll_pages.REOPENED_AT_ONCE * 2):
        keys = {"key": f"page/{n}", "dedup_key": f"firekind-{n}", "pager_id": f"PI{n}"}
        Page.objects.create(**ended, **keys, status_at=at - timedelta(hours=20))
    Page.objects.create(**ended, key="page/old", pager_id="PI", dedup_key="old", status_at=at - timedelta(hours=25))
    looks = 3  # including some that the incident itself opened
    for n in range(looks):
        poll_pages.look_again(at=at + timedelta(minutes=n))
    assert [one.key for one in Page.objects.filter(looked_at=None)] == ["page/old"]

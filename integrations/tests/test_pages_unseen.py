"""A page that may have notified no one is said to be one, because PagerDuty accepts an event before processing it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Event
from integrations.pagerduty.fake import events
from integrations.pagerduty.tests import straight
from integrations.tests.duty import Duty
from integrations.tests.test_pages_laws import Night, night
from workflows.models import Effect, Page
from workflows.oncall import pager_cache
from workflows.paging import paging, poll_pages
from workflows.reconcile import retyping
from workflows.status import progress

WHY = ["maintenance", "disabled", "nobody on call"]
LATER = timedelta(minutes=5)


@pytest.fixture
def found(built_duty: Duty, db: None) -> Iterator[Night]:
    """An incident that pages no one, and a fallback."""
    with night(built_duty, "internal") as one:
        one.duty.account.add_integration("Firekind", key=one.duty.account.routing_key)
        pager_cache.refresh(at=timezone.now())
        yield one


def page_through_the_fallback(found: Night, *, to: str = "major") -> None:
    """Retype to a type that pages someone while PagerDuty's REST API is away; then it comes back."""
    found.away(True)
    found.take("retype", to)
    found.settle(3)
    found.away(False)


def look(found: Night, *, after: timedelta) -> None:
    """Let the workers look at open pages, this much later."""
    Page.objects.update(looked_at=None)
    poll_pages.look_again(at=timezone.now() + after)
    found.settle(3)


def sent_again(found: Night) -> dict[str, object]:
    """Return an event as the fallback sent it."""
    about = {"summary": f"Checkout is slow ({found.incident.codename})", "source": "firekind", "severity": "critical"}
    key, to = Page.objects.get().dedup_key, found.duty.account.routing_key
    return {"routing_key": to, "dedup_key": key, "event_action": "trigger", "payload": about}


def told(found: Night) -> list[str]:
    """Return what is said about the page, without how it was sent."""
    rows = Event.objects.filter(incident=found.incident, kind="page").order_by("n")
    return [one.text for one in rows if not one.text.startswith("paged ")]


@pytest.mark.parametrize("why", WHY)
def test_whoever_responds_is_told_once_that_it_may_have_reached_nobody(found: Night, why: str) -> None:
    service = found.duty.account.service("Firekind")
    if why == "nobody on call":
        found.duty.account.policy(service.policy).levels.clear()
    else:
        service.status = why
    page_through_the_fallback(found)
    look(found, after=timedelta(seconds=61))
    assert told(found) == [], "PagerDuty may still be at it"
    for _ in range(3):
        look(found, after=LATER)
    (said,) = told(found)
    assert said.startswith("PagerDuty shows no incident for the page to Major incidents")
    assert Event.objects.get(text=said).data.get("room") != 0, "the channel is told"
    assert paging.said(Page.objects.get()) == "sent, but PagerDuty shows no incident for it"


def test_one_that_pagerduty_shows_is_as_it_shows_it(found: Night) -> None:
    page_through_the_fallback(found)
    for _ in range(3):
        look(found, after=LATER)
    assert told(found) == []
    assert paging.said(Page.objects.get()) == "paging"


def test_one_that_comes_late_is_known_and_can_be_acknowledged(found: Night) -> None:
    service = found.duty.account.service("Firekind")
    service.status = "maintenance"
    page_through_the_fallback(found)
    look(found, after=LATER)
    service.status = "active"
    events.take(found.duty.account, sent_again(found))
    look(found, after=2 * LATER)
    assert paging.said(Page.objects.get()) == "paging"


def test_nothing_is_said_while_pagerduty_cannot_be_asked(found: Night) -> None:
    found.duty.account.service("Firekind").status = "maintenance"
    page_through_the_fallback(found)
    found.away(True)
    look(found, after=LATER)
    assert told(found) == []


def in_maintenance(found: Night, *, over: bool = False) -> None:
    for service in found.duty.account.account.services.values():
        service.status = "active" if over else "maintenance"


@pytest.mark.parametrize("is_known", [False, True])
def test_a_page_that_no_service_takes_says_so_and_follows_once_one_does(found: Night, is_known: bool) -> None:
    in_maintenance(found)
    if is_known:
        pager_cache.refresh(at=timezone.now())
    found.take("retype", "major")
    found.settle(3)
    (failed,) = Event.objects.filter(incident=found.incident, kind="failed")
    assert "is disabled or in a maintenance window in PagerDuty" in failed.text
    assert not found.duty.account.rang
    in_maintenance(found, over=True)
    (effect,) = Effect.objects.filter(incident=found.incident, state="failed")
    progress.retry(effect.pk, found.incident, by=found.duty.house.person("dee"), at=timezone.now())
    found.settle(3)
    assert found.duty.account.rang


@pytest.mark.parametrize("paused", [False, True])
def test_a_plan_says_that_a_service_is_in_a_maintenance_window_before_anyone_counts_on_the_page(
    found: Night, paused: bool
) -> None:
    if paused:
        in_maintenance(found)
    pager_cache.refresh(at=timezone.now())
    house = found.duty.house
    plan = retyping.preview(found.incident, to=house.type("major"), by=house.person("dee"))
    assert ("in a maintenance window, so the page may notify no one" in str(plan)) == paused
    assert ("(in a maintenance window)" in plan.in_short) == ("(in a maintenance window)" in plan.reach) == paused
    in_maintenance(found, over=True)  # it ends before the page is sent
    found.take("retype", "major")
    found.settle(3)
    (page,) = Event.objects.filter(incident=found.incident, kind="page")
    assert page.text.startswith("paged Major incidents: Max")
    assert ("maintenance window" in page.text) == paused


def test_a_plan_says_that_no_one_is_on_call_and_that_pagerduty_will_not_take_the_page(found: Night) -> None:
    levels = found.duty.account.policy("Major incidents").levels
    before = levels.copy()
    levels.clear()
    pager_cache.refresh(at=timezone.now())
    pager_cache.refresh_shifts(at=timezone.now())
    house = found.duty.house
    declaring = retyping.preview_declare(type=house.type("major"), by=house.person("dee"))
    plan = retyping.preview(found.incident, to=house.type("major"), by=house.person("dee"))
    (said,) = [line.text for line in plan.lines if line.sign == "!"]
    assert said.startswith("No one is on call for Major incidents, so PagerDuty won't accept a page for it.")
    for shown in (declaring, plan):
        assert said in [line.text for line in shown.lines]
        assert shown.in_short.startswith("Sends 1 page (with no one on call)")
        assert shown.reach.startswith("Sends 1 page (with no one on call)")
    found.take("retype", "major")
    found.settle(3)
    assert found.duty.account.account.incidents == {}
    assert said in [gap.says for gap in progress.of(found.incident).gaps], "for as long as it is not sent"
    levels.extend(before)
    pager_cache.refresh_shifts(at=timezone.now())
    found.take("retype", "security")
    found.settle(3)
    found.take("retype", "major")
    found.settle(3)
    assert not [gap for gap in progress.of(found.incident).gaps if "on call" in gap.says]


def test_that_a_page_went_out_does_not_end_the_window_that_was_warned_of(found: Night) -> None:
    in_maintenance(found)
    pager_cache.refresh(at=timezone.now())
    in_maintenance(found, over=True)
    found.take("retype", "major")
    found.settle(3)
    lifecycle.update(found.incident, text="we look", by=None, at=found.duty.house.now())
    found.settle(3)
    (closed,) = Event.objects.filter(incident=found.incident, kind="gap_closed", text__contains="Major")
    assert closed.text == "The page to Major incidents was sent anyway"


def test_a_page_through_the_fallback_says_nothing_of_a_window_of_another_service(found: Night) -> None:
    found.duty.account.service("Security service").status = "maintenance"
    found.duty.pager.setup = straight.Given(service="Security service")
    pager_cache.refresh(at=timezone.now())
    page_through_the_fallback(found, to="security")
    (page,) = Event.objects.filter(incident=found.incident, kind="page")
    assert "through the fallback" in page.text
    assert "maintenance window" not in page.text

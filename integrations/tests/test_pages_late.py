"""PagerDuty opens a page late: it notifies once, ends if it is not wanted, and blocks nothing before that."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from itertools import product
from typing import Any, Final

import httpx2
import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident
from integrations.pagerduty import fake
from integrations.pagerduty.tasks import _take_all as act_on_webhooks
from integrations.pagerduty.tests import straight
from integrations.pagerduty.tests.straight import SETUP, StraightTransport
from integrations.tests.duty import Duty
from integrations.tests.duty import duty as on_duty
from integrations.tests.late_vendor import FATES, Killed, Late
from integrations.tests.lock_order import assert_the_incident_is_held_first
from workflows.models import Effect, Page
from workflows.paging import paging, poll_pages
from workflows.paging.paging import PageChoice
from workflows.performing import perform
from workflows.reconcile import reconcile
from workflows.status import page_status

SECRET: Final = "webhook-secret"
HOLDS_S: Final = (11, 44, 200)
SOON: Final = (11, 44)  # within the time a request is waited for
# What people do while the request is delayed, and whether the page is wanted in the end.
MEANWHILE: Final = {
    "stay": True,
    "retype away": False,
    "resolve": False,
    "retype away, retype back": True,
    "retype away, rename, retype back": True,
    "rename": True,
    "rename, retype away": False,
    "resolve, reopen": True,
    "resolve, rename, reopen": True,
}


@pytest.fixture
def night(db: None, late: Late, monkeypatch: pytest.MonkeyPatch) -> Iterator[Duty]:
    """A house whose pager delays requests that open a page."""
    carry = StraightTransport.handle_request

    def held(self: StraightTransport, request: httpx2.Request) -> httpx2.Response:
        late.arrive()
        if (request.method, request.url.path) != ("POST", "/incidents"):
            return carry(self, request)
        try:
            answer: httpx2.Response = late.take(lambda: carry(self, request))
        except TimeoutError as error:
            raise httpx2.ReadTimeout("no answer", request=request) from error
        return answer

    monkeypatch.setattr(StraightTransport, "handle_request", held)
    given: Any = SETUP  # has the fields of the settings
    monkeypatch.setattr(django_settings, "FIREKIND", replace(django_settings.FIREKIND, pagerduty=given))
    with on_duty() as made:
        made.account.add_subscription(secret=SECRET)
        made.pager.setup = straight.Given(routing_key="")  # with a fallback, a page does not wait for the REST API
        yield made


def declared(night: Duty, late: Late) -> Incident:
    """Declare a Major; the first worker sends the page, and gets no answer."""
    dee, major = night.house.person("dee"), night.house.type("major")
    incident = lifecycle.declare("Checkout is slow", by=dee, at=late.now, type=major)
    late.work_once(incident)
    return incident


def act(night: Duty, late: Late, incident: Incident, what: str) -> None:
    """Let someone do one thing."""
    dee, incident = night.house.person("dee"), Incident.objects.get(pk=incident.pk)
    if what == "retype away":
        lifecycle.retype(incident, to=night.house.type("internal"), by=dee, at=late.now)
    elif what == "retype back":
        lifecycle.retype(incident, to=night.house.type("major"), by=dee, at=late.now)
    elif what == "rename":
        lifecycle.rename(incident, title="Checkout fails", by=dee, at=late.now)
    elif what == "resolve":
        lifecycle.resolve(incident, by=dee, at=late.now)
    elif what == "reopen":
        lifecycle.reopen(incident, by=dee, at=late.now)


def live_through(night: Duty, late: Late, incident: Incident, *, hears: str) -> None:
    """Let fifteen minutes pass, in which we look every minute or receive PagerDuty's webhooks."""
    for _ in range(16):
        late.live_on(incident, until=late.now + timedelta(minutes=1))
        late.arrive()
        if hears == "by looking":
            poll_pages.look_again(at=timezone.now())
        else:
            hear(night)
    late.live_on(incident)
    assert not late.held


def hear(night: Duty, *, backwards: bool = False) -> None:
    """Deliver PagerDuty's webhooks, and process them."""
    deliveries = list(night.account.take_deliveries())
    for delivery in reversed(deliveries) if backwards else deliveries:
        headers, body = fake.signed(delivery, [SECRET])
        answer = Client().post("/pagerduty/webhook", body, content_type="application/json", headers=headers)
        assert answer.status_code in {200, 202}, answer.content
    act_on_webhooks()


def still_open(night: Duty) -> list[str]:
    """Return the titles of what PagerDuty still has open."""
    return [one.title for one in night.account.account.incidents.values() if one.is_open]


def paged_state(incident: Incident) -> str:
    """Return what is said about whether a Major's policy is paged."""
    return _choice(incident).state


def page_by_hand(night: Duty, late: Late, incident: Incident) -> None:
    """Page a Major's policy by hand."""
    paging.ask(incident, target=_choice(incident).target, by=night.house.person("dee"), at=late.now)


def _choice(incident: Incident) -> PageChoice:
    (choice,) = [one for one in paging.choices(incident) if one.name == "Major incidents"]
    return choice


def cases() -> Iterator[Any]:
    """Yield each act with each delay, and the other parameters in turn."""
    for n, (meanwhile, hold_s) in enumerate(product(MEANWHILE, HOLDS_S)):
        fate, pause_s = FATES[n % len(FATES)], (0, 20)[n // 2 % 2]
        hears = ("by looking", "by webhook")[n // 3 % 2]
        yield pytest.param((hold_s, fate, 10.0), meanwhile, pause_s, hears, id=f"{meanwhile}-{hold_s}-{fate}-{pause_s}")


@pytest.mark.parametrize(("late", "meanwhile", "pause_s", "hears"), list(cases()), indirect=["late"])
def test_a_page_that_comes_late_rings_once_and_stays_only_where_it_is_wanted(
    night: Duty, late: Late, meanwhile: str, pause_s: int, hears: str
) -> None:
    incident = declared(night, late)
    held_s = late.hold_s
    for what in meanwhile.split(", "):
        late.live_on(incident, until=late.now + timedelta(seconds=pause_s))
        act(night, late, incident, what)
        late.work_once(incident)
    live_through(night, late, incident, hears=hears)
    incident.refresh_from_db()
    wanted = MEANWHILE[meanwhile]
    title = f"{incident.title} ({incident.codename})"
    assert still_open(night) == ([title] if wanted else [])
    assert bool(paged_state(incident)) == wanted
    assert not Effect.objects.filter(incident=incident).exclude(state__in=["done", "cancelled"]).exists()
    opened = [one.key for one in night.account.account.incidents.values()]
    assert len(opened) == night.times_rung("max") <= late.sent
    if held_s in SOON:
        assert len(opened) == len(set(opened)), "one for each time that it is wanted"
    statuses = {page.dedup_key: page.status for page in Page.objects.filter(incident=incident)}
    assert {one.key: one.status for one in night.account.account.incidents.values()}.items() <= statuses.items()


@pytest.mark.parametrize("late", [(200, fate, 10.0) for fate in FATES[:2]], indirect=True)
def test_whom_a_page_never_reached_is_paged_when_somebody_asks(night: Duty, late: Late) -> None:
    incident = declared(night, late)
    late.held.clear()  # it never arrives
    act(night, late, incident, "retype away")
    late.live_on(incident)
    assert [paging.said(page) for page in Page.objects.filter(incident=incident)] == ["called off before it was opened"]
    (line,) = page_status.of(incident).lines
    assert (line.rings, line.called_off) == ("", True), "nobody is said to be paged"
    page_by_hand(night, late, incident)
    late.hold_s = 0.1
    late.live_on(incident)
    assert len(still_open(night)) == night.times_rung("max") == 1


@pytest.mark.parametrize("late", [(0.1, "", 10.0)], indirect=True)
def test_whom_pagerduty_refused_to_page_is_paged_when_somebody_asks(night: Duty, late: Late) -> None:
    services = night.account.account.services
    known = dict(services)
    services.clear()
    incident = declared(night, late)
    services |= known
    assert Effect.objects.get(incident=incident, kind="page").state == "failed"
    act(night, late, incident, "retype away")
    late.live_on(incident)
    assert not paged_state(incident)
    page_by_hand(night, late, incident)
    late.live_on(incident)
    assert len(still_open(night)) == night.times_rung("max") == 1


@pytest.mark.parametrize("late", [(44, fate, 10.0) for fate in FATES[:2]], indirect=True)
def test_a_page_that_is_wanted_again_while_it_is_looked_for_rings_at_once(
    night: Duty, late: Late, monkeypatch: pytest.MonkeyPatch
) -> None:
    incident = declared(night, late)
    find = straight.StraightPager.find

    def found(self: straight.StraightPager, *about: Any, **more: Any) -> Any:
        if incident.type.slug == "internal":
            act(night, late, incident, "retype back")
            reconcile.reconcile(incident.pk, at=late.now)
            incident.refresh_from_db()
        return find(self, *about, **more)

    act(night, late, incident, "retype away")
    incident.refresh_from_db()
    monkeypatch.setattr(straight.StraightPager, "find", found)
    began = late.now
    late.live_on(incident, until=began + timedelta(seconds=35))
    late.live_on(incident, until=late.now)
    assert incident.type.slug == "major"
    assert late.sent == 2
    late.live_on(incident)
    assert len(still_open(night)) == night.times_rung("max") == 1


@pytest.mark.parametrize("late", [(20, fate, 10.0) for fate in FATES[:2]], indirect=True)
def test_a_page_that_was_told_of_and_is_not_listed_yet_is_ended(
    night: Duty, late: Late, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, incident = late.now, declared(night, late)
    act(night, late, incident, "retype away")
    late.live_on(incident, until=began + timedelta(seconds=18))
    late.now = began + timedelta(seconds=21)
    late.arrive()
    assert still_open(night)
    hear(night)
    monkeypatch.setattr(straight.StraightPager, "find", lambda self, *_, **__: None)
    late.live_on(incident)
    assert still_open(night) == []


@pytest.mark.parametrize("late", [(200, fate, 10.0) for fate in FATES[:2]], indirect=True)
@pytest.mark.parametrize("ends", ["retype away", "resolve"])
def test_a_page_that_comes_while_another_try_waits_is_ended_once_that_is_called_off(
    night: Duty, late: Late, ends: str
) -> None:
    incident = declared(night, late)
    act(night, late, incident, "retype away")
    late.live_on(incident, until=late.now + timedelta(seconds=100))
    act(night, late, incident, "retype back")
    reconcile.reconcile(incident.pk, at=late.now)  # and no worker runs
    late.now += timedelta(seconds=120)
    late.arrive()
    hear(night)
    act(night, late, incident, ends)
    late.live_on(incident, until=late.now + timedelta(seconds=90))
    poll_pages.look_again(at=timezone.now())
    late.live_on(incident)
    assert still_open(night) == []
    assert not late.held


@pytest.mark.parametrize("late", [(200, "killed", 10.0)], indirect=True)
def test_what_calls_a_page_off_holds_the_incident_before_it_changes_effects(night: Duty, late: Late) -> None:
    """Recording an effect locks in this order; the opposite order would deadlock."""
    incident = declared(night, late)
    act(night, late, incident, "retype away")
    for _ in range(9):
        with CaptureQueriesContext(connection) as asked:
            reconcile.reconcile(incident.pk, at=late.now)
        if not Page.objects.get(incident=incident).is_open:
            break
        with suppress(Killed):
            perform.drain(incident.pk, side_by_side=False)
        late.now += timedelta(seconds=15)
    else:
        raise AssertionError("it is not called off")
    assert_the_incident_is_held_first(asked)

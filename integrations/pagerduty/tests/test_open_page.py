"""A page notifies once, whatever fails and however often it is retried; the fallback never makes it two."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from integrations.pagerduty import fake
from integrations.pagerduty.adapter import open_page
from integrations.pagerduty.tests.straight import SETUP, StraightPager, pager_on
from workflows.pager_port import PageRequest
from workflows.ports import VendorError

HERE: Final = "PVFIREKIND"  # the service that the fallback's routing key belongs to
THERE: Final = "PVSECURITYRESPONSE"
SINCE: Final = timedelta(hours=1)


def a_ring(target: str = "policy/PEMAJORINCIDENTS", *, service: str = HERE, unsure: bool = False) -> PageRequest:
    """Return a page to be opened."""
    return PageRequest(
        "fk-1", target, service, "Checkout is down", "What is known", "https://firekind.example/i", unsure
    )


@pytest.fixture
def pager() -> StraightPager:
    pager = pager_on(fake.demo())
    pager.targets()  # learns the routing key's service while PagerDuty can be asked
    return pager


def opened(pager: StraightPager) -> list[fake.Incident]:
    """Return every incident of the account."""
    return list(pager.account.account.incidents.values())


def sent(pager: StraightPager, method: str, path: str) -> int:
    """Return how many of these requests the account received."""
    return sum((call.method, call.path) == (method, path) for call in pager.account.calls)


def test_a_page_says_what_it_is_about_and_rings_the_policy(pager: StraightPager) -> None:
    rung = pager.ring(a_ring())
    (incident,) = opened(pager)
    assert (rung.id, rung.number, rung.url) == (incident.id, 1, f"https://sandbox.example/incidents/{incident.id}")
    assert (rung.status, rung.via, rung.key, rung.title) == ("triggered", "rest", "fk-1", "Checkout is down")
    assert (incident.service, incident.policy, incident.urgency) == (HERE, "PEMAJORINCIDENTS", "high")
    assert incident.details == "What is known\n\nhttps://firekind.example/i"
    assert {rang.user for rang in pager.account.rang} == set(incident.assignees)


@pytest.mark.parametrize(
    ("target", "service", "policy", "opened_on"),
    [
        ("policy/PESECURITY", HERE, "PESECURITY", HERE),
        ("policy/PESECURITY", "", "PESECURITY", HERE),
        ("service/PVPAYMENTS", "PVPAYMENTS", "PEENGINEERING", "PVPAYMENTS"),
        ("user/PUKOFI", HERE, "PEMAJORINCIDENTS", HERE),
        ("user/PUKOFI", "", "PEMAJORINCIDENTS", HERE),
    ],
)
def test_whom_a_page_rings(pager: StraightPager, target: str, service: str, policy: str, opened_on: str) -> None:
    pager.ring(a_ring(target, service=service))
    (incident,) = opened(pager)
    assert (incident.policy, incident.service) == (policy, opened_on)
    if target.startswith("user/"):
        assert list(incident.assignees) == ["PUKOFI"]
        assert incident.status == "triggered"


@pytest.mark.parametrize("before", ["triggered", "acknowledged", "resolved"])
def test_a_page_that_was_ever_opened_is_found_and_not_opened_again(pager: StraightPager, before: str) -> None:
    rung = pager.ring(a_ring())
    if before == "acknowledged":
        pager.account.acts.acknowledge("wei", opened(pager)[0].number)
    if before == "resolved":
        pager.account.acts.resolve("wei", opened(pager)[0].number)
    again = pager.ring(a_ring(unsure=True))
    assert (again.id, again.status) == (rung.id, before)
    assert len(opened(pager)) == 1


@pytest.mark.parametrize("kind", ["drop", "error_after", "timeout"])
def test_a_page_whose_opening_was_not_answered_is_found(pager: StraightPager, kind: str) -> None:
    pager.account.faults.add(kind, method="POST", path="/incidents", times=1)
    rung = pager.ring(a_ring())
    assert (rung.status, rung.via, len(opened(pager))) == ("triggered", "rest", 1)


def test_a_short_rate_limit_is_handed_over_and_takes_no_fallback(pager: StraightPager) -> None:
    pager.account.faults.add("ratelimited", method="POST", path="/incidents", times=1, retry_after_s=17)
    with pytest.raises(VendorError) as caught:
        pager.ring(a_ring())
    assert (caught.value.retry_after, caught.value.method) == (17, "pager.ring")
    assert not opened(pager)
    assert pager.ring(a_ring()).via == "rest"


@settings(max_examples=30)
@given(st.integers(0, 3600), st.integers(0, 1 << 20), st.sampled_from(["GET", "POST"]))
def test_no_rate_limit_holds_up_a_page_for_longer_than_a_minute(waited_s: int, asks_s: int, method: str) -> None:
    pager = pager_on(fake.demo())
    pager.targets()
    pager.account.faults.add("ratelimited", method=method, path="/incidents", retry_after_s=asks_s)
    ring = replace(a_ring(), waited_s=waited_s)
    rung, waits_s = None, 0.0
    try:
        rung = pager.ring(ring)
    except VendorError as error:
        waits_s = error.retry_after or math.inf
    if rung is None:
        assert waited_s + waits_s <= open_page.LIMITED_AT_MOST_S
        assert not opened(pager)
    else:
        assert (rung.via, rung.limited, len(opened(pager))) == ("events", True, 1)
    pager.account.faults.clear()
    pager.ring(replace(ring, unsure=True))
    assert len(opened(pager)) == 1


def test_without_a_fallback_a_rate_limit_is_waited_for(pager: StraightPager) -> None:
    pager.setup = replace(SETUP, routing_key="")
    pager.account.faults.add("ratelimited", method="POST", path="/incidents", retry_after_s=60)
    with pytest.raises(VendorError) as caught:
        pager.ring(replace(a_ring(), waited_s=600))
    assert (caught.value.code, caught.value.retry_after) == ("ratelimited", 60)


def test_while_the_rest_api_is_down_a_page_is_sent_as_an_event_that_says_who_was_meant(pager: StraightPager) -> None:
    pager.rest.is_down = True
    rung = pager.ring(a_ring("policy/PESECURITY", service=THERE))
    assert (rung.id, rung.status, rung.via, rung.key) == ("", "triggered", "events", "fk-1")
    (incident,) = opened(pager)
    (alert,) = incident.alerts
    assert (incident.service, incident.title, alert.key) == (HERE, "[fk-1] Checkout is down", "fk-1")
    assert alert.details == {"meant for": "policy/PESECURITY", "details": "What is known"}


def test_a_rest_api_that_answers_errors_is_down_as_well(pager: StraightPager) -> None:
    pager.account.faults.add("server_error", method="POST", path="/incidents")
    assert pager.ring(a_ring("policy/PESECURITY", service=THERE)).via == "events"
    assert len(opened(pager)) == 1


def test_a_rest_api_in_whose_place_a_proxy_answers_is_down_as_well(pager: StraightPager) -> None:
    pager.rest.instead = {"message": "sign in"}
    assert pager.ring(a_ring("policy/PESECURITY", service=THERE)).via == "events"
    assert len(opened(pager)) == 1


def test_an_event_that_a_proxy_took_is_not_a_page(pager: StraightPager) -> None:
    pager.rest.is_down, pager.fallback.instead = True, {}
    with pytest.raises(VendorError, match="unreadable_answer") as caught:
        pager.ring(a_ring())
    assert (caught.value.retryable, caught.value.unknown) == (True, True)
    pager.fallback.instead = None
    assert pager.ring(a_ring(unsure=True)).via == "events"
    assert len(opened(pager)) == 1


def test_a_page_sent_as_an_event_is_found_by_its_alert_and_not_opened_again(pager: StraightPager) -> None:
    for n in range(3):
        pager.ring(PageRequest(f"other-{n}", "service/PVFIREKIND", HERE, "Another", "", ""))
    pager.rest.is_down = True
    pager.ring(a_ring("policy/PESECURITY", service=THERE))
    pager.rest.is_down = False
    rung = pager.ring(a_ring("policy/PESECURITY", service=THERE, unsure=True))
    found = pager.find("fk-1", service=THERE, since=datetime.now(UTC) - SINCE)
    assert (rung.via, rung.key, rung.id) == ("events", "fk-1", opened(pager)[-1].id)
    assert found == rung
    assert len(opened(pager)) == 4


def test_a_page_that_may_be_open_elsewhere_is_not_sent_as_an_event(pager: StraightPager) -> None:
    pager.rest.is_down = True
    with pytest.raises(VendorError) as caught:
        pager.ring(a_ring("policy/PESECURITY", service=THERE, unsure=True))
    error = caught.value
    assert (error.code, error.retryable, error.unknown) == ("may_have_rung", True, True)
    assert not sent(pager, "POST", fake.ENQUEUE)


def test_a_page_that_may_be_open_where_events_lead_is_sent_as_one_and_known_by_its_key(pager: StraightPager) -> None:
    pager.rest.fatal = "POST"
    rung = pager.ring(a_ring())
    assert (rung.via, rung.status) == ("events", "triggered")
    assert len(opened(pager)) == 1
    pager.rest.fatal, pager.rest.is_down = "", False
    assert pager.ring(a_ring(unsure=True)).id == opened(pager)[0].id


def test_a_page_that_may_have_been_opened_as_the_rest_api_went_down_rings_nobody_twice(pager: StraightPager) -> None:
    pager.rest.fatal = "POST"
    with pytest.raises(VendorError, match="may_have_rung"):
        pager.ring(a_ring("policy/PESECURITY", service=THERE))
    assert len(opened(pager)) == 1
    pager.rest.fatal, pager.rest.is_down = "", False
    assert pager.ring(a_ring("policy/PESECURITY", service=THERE, unsure=True)).id == opened(pager)[0].id


def test_a_post_cut_off_is_not_sent_another_way_while_pagerduty_can_be_asked(pager: StraightPager) -> None:
    pager.account.faults.add("drop_before", method="POST", path="/incidents", times=1)
    with pytest.raises(VendorError) as caught:
        pager.ring(a_ring("policy/PESECURITY", service=THERE))
    assert (caught.value.code, caught.value.unknown) == ("connection_lost", True)
    assert pager.ring(a_ring("policy/PESECURITY", service=THERE, unsure=True)).via == "rest"
    assert len(opened(pager)) == 1


def test_both_ways_down_is_tried_again(pager: StraightPager) -> None:
    pager.rest.is_down = pager.fallback.is_down = True
    with pytest.raises(VendorError) as caught:
        pager.ring(a_ring())
    assert (caught.value.retryable, caught.value.unknown) == (True, False)


def test_an_event_that_may_have_been_taken_is_in_doubt(pager: StraightPager) -> None:
    pager.rest.is_down = True
    pager.account.faults.add("drop", path=fake.ENQUEUE, times=1)
    with pytest.raises(VendorError) as caught:
        pager.ring(a_ring())
    assert (caught.value.retryable, caught.value.unknown) == (True, True)
    assert pager.ring(a_ring(unsure=True)).via == "events"
    assert len(opened(pager)) == 1


def test_a_routing_key_that_is_not_taken_is_said_and_the_rest_api_tried_again() -> None:
    pager = pager_on(fake.demo(), routing_key="0" * 32)
    pager.rest.is_down = True
    with pytest.raises(VendorError, match="fallback_refused") as caught:
        pager.ring(a_ring())
    assert "PAGERDUTY_ROUTING_KEY" in caught.value.says
    assert (caught.value.retryable, caught.value.unknown) == (True, False)


def test_without_a_routing_key_there_is_no_other_way() -> None:
    pager = pager_on(fake.demo(), routing_key="")
    pager.rest.is_down = True
    with pytest.raises(VendorError, match="connection_failed"):
        pager.ring(a_ring())
    pager.rest.is_down = False
    assert pager.find("fk-1", service=HERE, since=datetime.now(UTC) - SINCE) is None


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("user/PUFIREKIND", "own_sender"),
        ("user/PUNOBODY", "1007"),
        ("policy/PENOWHERE", "1014"),
        ("service/PVNOWHERE", "5002"),
        ("schedule/PSSUPPORTONCALL", "bad_target"),
        ("policy/", "bad_target"),
        ("", "bad_target"),
    ],
)
def test_what_cannot_be_paged_is_said_and_never_sent_another_way(pager: StraightPager, target: str, code: str) -> None:
    with pytest.raises(VendorError) as caught:
        pager.ring(a_ring(target, service="PVNOWHERE" if "NOWHERE" in target and "service" in target else HERE))
    assert (caught.value.code, caught.value.retryable) == (code, False)
    assert not sent(pager, "POST", fake.ENQUEUE)
    assert not opened(pager)


def test_a_page_without_a_service_of_its_own_needs_one_by_name() -> None:
    pager = pager_on(fake.demo(), service="")
    with pytest.raises(VendorError, match="no_service") as caught:
        pager.ring(a_ring("user/PUKOFI", service=""))
    assert "PAGERDUTY_SERVICE" in caught.value.says


@pytest.mark.parametrize("service", ["Firekind", "FIREKIND", "PVFIREKIND"])
def test_that_service_is_named_by_name_or_id(service: str) -> None:
    pager = pager_on(fake.demo(), service=service)
    pager.ring(a_ring("user/PUKOFI", service=""))
    assert opened(pager)[0].service == HERE

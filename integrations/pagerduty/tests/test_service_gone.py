"""A service that was deleted since we last read them: the page rings on ours, once, or says which service is gone."""

from __future__ import annotations

from contextlib import suppress

import pytest

from integrations.pagerduty import fake
from integrations.pagerduty.fake.server.faults import FaultEffect
from integrations.pagerduty.tests.straight import StraightPager, pager_on
from integrations.pagerduty.tests.test_open_page import HERE, THERE, a_ring, opened
from workflows.ports import VendorError

PEOPLE = ("policy/PESECURITY", "user/PUKOFI")


def deleted(*services: str, service: str = "Firekind") -> StraightPager:
    """An account whose services were read before these were deleted."""
    pager = pager_on(fake.demo(), service=service)
    pager.targets()
    for one in services:
        del pager.account.account.services[one]
    return pager


@pytest.mark.parametrize("target", PEOPLE)
@pytest.mark.parametrize("fault", ["", "drop", "drop_before", "timeout", "error_after", "server_error", "ratelimited"])
@pytest.mark.parametrize("nth", [1, 2], ids=["refused", "opened"])
def test_who_is_paged_is_paged_all_the_same_and_once(
    target: str, fault: str, nth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pager = deleted(THERE)
    strike, posts = pager.account.strike, iter(range(1, 99))

    def struck(method: str, path: str) -> FaultEffect:
        """Let the fault strike one of the requests that open the page: the one that is refused, or the next."""
        if fault and (method, path) == ("POST", "/incidents") and next(posts) == nth:
            pager.account.faults.add(fault, times=1)
        return strike(method, path)

    monkeypatch.setattr(pager.account, "strike", struck)
    with suppress(VendorError):
        pager.ring(a_ring(target, service=THERE))
    pager.ring(a_ring(target, service=THERE, unsure=True))  # as the effect is tried again
    (incident,) = opened(pager)
    assert incident.service == HERE
    assert {one.user for one in pager.account.rang} == set(incident.assignees) != set()
    assert len(pager.account.rang) == len(incident.assignees)


@pytest.mark.parametrize(
    ("target", "service", "ours"),
    [
        (PEOPLE[0], HERE, "Firekind"),
        (PEOPLE[1], HERE, "Firekind"),
        (PEOPLE[0], THERE, ""),
        (PEOPLE[0], THERE, "Security response"),
        (f"service/{THERE}", THERE, "Firekind"),
    ],
)
def test_what_cannot_ring_anywhere_says_that_the_service_is_gone(target: str, service: str, ours: str) -> None:
    pager = deleted(service, service=ours)
    with pytest.raises(VendorError, match="5002") as caught:
        pager.ring(a_ring(target, service=service))
    assert not caught.value.retryable
    assert "no longer exists" in caught.value.says
    assert not opened(pager)


def test_what_pagerduty_says_of_a_page_that_it_rejects_is_passed_on() -> None:
    pager = pager_on(fake.demo())
    ring = a_ring()
    object.__setattr__(ring, "title", " ")
    with pytest.raises(VendorError, match="2001") as caught:
        pager.ring(ring)
    assert "Title cannot be empty." in caught.value.says

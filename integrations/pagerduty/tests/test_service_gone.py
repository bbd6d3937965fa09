"""A service was deleted or disabled since it was read: the page opens on our own service, once, or says why not."""

from __future__ import annotations

from contextlib import suppress

import pytest

from integrations.pagerduty import fake
from integrations.pagerduty.fake.server.faults import FaultEffect
from integrations.pagerduty.tests.straight import StraightPager, pager_on
from integrations.pagerduty.tests.test_open_page import HERE, THERE, a_ring, opened
from workflows.ports import VendorError

PEOPLE = ("policy/PESECURITY", "user/PUKOFI")


HOW = {"deleted": "no longer exists", "disabled": "is disabled or in", "maintenance": "a maintenance window"}


def without(*services: str, how: str, service: str = "Firekind") -> StraightPager:
    """Return an account in which these services were deleted or disabled after they were read."""
    pager = pager_on(fake.demo(), service=service)
    pager.targets()
    for one in services:
        if how == "deleted":
            del pager.account.account.services[one]
        else:
            pager.account.account.services[one].status = how
    return pager


@pytest.mark.parametrize("target", PEOPLE)
@pytest.mark.parametrize("fault", ["", "drop", "drop_before", "timeout", "error_after", "server_error", "ratelimited"])
@pytest.mark.parametrize("nth", [1, 2], ids=["refused", "opened"])
@pytest.mark.parametrize("how", HOW)
def test_who_is_paged_is_paged_all_the_same_and_once(
    target: str, fault: str, nth: int, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pager = without(THERE, how=how)
    strike, posts = pager.account.strike, iter(range(1, 99))

    def struck(method: str, path: str) -> FaultEffect:
        """Return a fault for one of the requests that open the page: the refused one, or the next."""
        if fault and (method, path) == ("POST", "/incidents") and next(posts) == nth:
            pager.account.faults.add(fault, times=1)
        return strike(method, path)

    monkeypatch.setattr(pager.account, "strike", struck)
    with suppress(VendorError):
        pager.ring(a_ring(target, service=THERE))
    pager.ring(a_ring(target, service=THERE, unsure=True))  # as the effect's retry
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
@pytest.mark.parametrize("how", HOW)
def test_what_cannot_ring_anywhere_says_what_is_wrong_with_the_service(
    target: str, service: str, ours: str, how: str
) -> None:
    pager = without(service, how=how, service=ours)
    with pytest.raises(VendorError) as caught:
        pager.ring(a_ring(target, service=service))
    assert caught.value.code == ("5002" if how == "deleted" else "service_off")
    assert not caught.value.retryable
    assert HOW[how] in caught.value.says
    assert not opened(pager)


def test_what_pagerduty_says_of_a_page_that_it_rejects_is_passed_on() -> None:
    pager = pager_on(fake.demo())
    ring = a_ring()
    object.__setattr__(ring, "title", " ")
    with pytest.raises(VendorError, match="2001") as caught:
        pager.ring(ring)
    assert "Title cannot be empty." in caught.value.says


@pytest.mark.parametrize("how", ["disabled", "maintenance"])
@pytest.mark.parametrize("named", [HERE, "firekind"])
def test_that_our_own_service_is_switched_off_is_said_of_it_by_whoever_never_read_it_before(
    named: str, how: str
) -> None:
    account = fake.demo()
    account.account.services[HERE].status = how
    with pytest.raises(VendorError, match="service_off"):
        pager_on(account, service=named).ring(a_ring(PEOPLE[1], service=""))
    assert not account.rang

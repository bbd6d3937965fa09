"""Each method of the pager on the stand-in account: what it changes, and that repeating it is harmless."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from integrations.pagerduty import fake
from integrations.pagerduty.tests.straight import StraightPager, pager_on
from workflows.pager_port import Pager, PageRequest, PageStatus
from workflows.ports import VendorError

RING: Final = PageRequest("fk-1", "service/PVFIREKIND", "PVFIREKIND", "Checkout is down", "", "")
LONG_AGO: Final = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture
def pager() -> StraightPager:
    return pager_on(fake.demo())


@pytest.fixture
def rung(pager: StraightPager) -> PageStatus:
    return pager.ring(RING)


def the(pager: StraightPager) -> fake.Incident:
    """Return the only incident."""
    (incident,) = pager.account.account.incidents.values()
    return incident


def test_it_is_a_pager(pager: StraightPager) -> None:
    port: Pager = pager
    assert callable(port.ring)


def test_a_look_says_how_a_page_stands_and_who_made_it_so(pager: StraightPager, rung: PageStatus) -> None:
    pager.account.acts.acknowledge("wei", 1)
    now = pager.look(rung.id)
    assert now is not None
    assert (now.status, now.by, now.via) == ("acknowledged", "Wei Chen", "rest")
    assert now.at is not None
    assert abs(now.at - datetime.now(UTC)) < timedelta(minutes=1)


def test_a_look_at_an_id_that_is_not_there_finds_nothing(pager: StraightPager) -> None:
    assert pager.look("Q404") is None


def test_a_look_that_fails_is_not_taken_for_nothing(pager: StraightPager) -> None:
    pager.account.faults.add("server_error", method="GET")
    with pytest.raises(VendorError, match="unavailable"):
        pager.look("Q404")


def test_a_page_is_found_however_old_it_is_and_wherever_it_was_moved(pager: StraightPager, rung: PageStatus) -> None:
    the(pager).created_at -= 300 * 86_400
    the(pager).service = "PVPAYMENTS"
    found = pager.find("fk-1", service="PVFIREKIND", since=LONG_AGO)
    assert found is not None
    assert replace(found, opened_at=rung.opened_at) == rung


def test_one_that_was_never_opened_is_not_found(pager: StraightPager, rung: PageStatus) -> None:
    assert pager.find("fk-2", service="PVFIREKIND", since=LONG_AGO) is None


def test_looking_for_an_event_reads_the_alerts_of_few_incidents(pager: StraightPager) -> None:
    pager.targets()
    for n in range(40):
        pager.rest.is_down = True
        pager.ring(PageRequest(f"fk-{n}", "service/PVFIREKIND", "PVFIREKIND", "Down", "", ""))
    pager.rest.is_down = False
    assert pager.find("fk-none", service="PVFIREKIND", since=datetime.now(UTC) - timedelta(days=1)) is None
    assert sum(call.path.endswith("/alerts") for call in pager.account.calls) == 25


def test_a_title_is_changed_and_cut_to_what_fits(pager: StraightPager, rung: PageStatus) -> None:
    pager.retitle(rung.id, "x" * 2_000)
    assert the(pager).title == "x" * 1_024


def test_an_ended_page_that_already_has_the_title_counts_as_changed(pager: StraightPager, rung: PageStatus) -> None:
    assert pager.retitle(rung.id, "Neutral")
    pager.resolve(rung.id, key="fk-1", via="rest")
    assert pager.retitle(rung.id, "Neutral")
    assert not pager.retitle(rung.id, "Another")
    assert the(pager).title == "Neutral"


@pytest.mark.parametrize("before", ["triggered", "acknowledged", "resolved"])
def test_ending_a_page_is_fine_however_it_stands_and_does_not_open_it_again(
    pager: StraightPager, rung: PageStatus, before: str
) -> None:
    if before == "acknowledged":
        pager.account.acts.acknowledge("wei", 1)
    if before == "resolved":
        pager.account.acts.resolve("wei", 1)
    pager.resolve(rung.id, key="fk-1", via="rest")
    pager.resolve(rung.id, key="fk-1", via="rest")
    pager.retitle(rung.id, "Still over")
    assert the(pager).status == "resolved"


def test_a_page_whose_id_is_not_known_yet_is_ended_by_its_key(pager: StraightPager, rung: PageStatus) -> None:
    pager.resolve("", key="fk-1", via="rest")
    pager.resolve("", key="fk-1", via="rest")
    pager.resolve("", key="fk-unknown", via="rest")
    assert the(pager).status == "resolved"


def test_a_page_of_the_fallback_is_ended_by_an_event(pager: StraightPager) -> None:
    pager.rest.is_down = True
    pager.ring(RING)
    pager.resolve("", key="fk-1", via="events")
    assert the(pager).status == "resolved"


def test_a_page_of_the_fallback_is_ended_by_its_id_and_by_an_event_while_that_cannot_be(pager: StraightPager) -> None:
    pager.targets()
    pager.rest.is_down = True
    pager.ring(RING)
    pager.rest.is_down = False
    found = pager.find("fk-1", service="PVFIREKIND", since=LONG_AGO)
    assert found is not None
    pager.rest.is_down = True
    pager.resolve(found.id, key="fk-1", via="events")
    assert the(pager).status == "resolved"
    with pytest.raises(VendorError, match="connection_failed"):
        pager.resolve(found.id, key="fk-1", via="rest")


def test_a_page_of_a_fallback_that_is_set_up_no_more_is_ended_by_hand() -> None:
    pager = pager_on(fake.demo(), routing_key="")
    with pytest.raises(VendorError, match="no_fallback") as caught:
        pager.resolve("", key="fk-1", via="events")
    assert "PagerDuty" in caught.value.says


def test_a_page_is_acknowledged_in_the_name_of_a_user(pager: StraightPager, rung: PageStatus) -> None:
    wei = pager.account.user("wei")
    now = pager.acknowledge(rung.id, by=wei.email)
    assert (now.status, now.by, now.by_id) == ("acknowledged", "Wei Chen", wei.id)
    assert pager.acknowledge(rung.id, by=wei.email) == now
    assert [call.sender for call in pager.account.writes() if call.method == "PUT"] == [wei.email]


@pytest.mark.parametrize("act", ["acknowledge", "resolve"])
def test_what_somebody_else_did_to_a_page_is_left_and_told(pager: StraightPager, rung: PageStatus, act: str) -> None:
    getattr(pager.account.acts, act)("ada", 1)
    before = the(pager).status
    assert pager.acknowledge(rung.id, by=pager.account.user("wei").email).status == before
    assert the(pager).status == before


@pytest.mark.parametrize("email", ["nobody@example.com", "jürgen@example.com"])
def test_nobody_acknowledges_in_a_name_that_pagerduty_does_not_know(
    pager: StraightPager, rung: PageStatus, email: str
) -> None:
    with pytest.raises(VendorError, match="not_a_user") as caught:
        pager.acknowledge(rung.id, by=email)
    assert not caught.value.retryable
    assert the(pager).status == "triggered"


def test_a_note_is_written(pager: StraightPager, rung: PageStatus) -> None:
    pager.note(rung.id, "The room is #inc-brave-otter")
    assert [note.text for note in the(pager).notes] == ["The room is #inc-brave-otter"]


@pytest.mark.parametrize(
    ("verb", "name"),
    [("ring", "pager.ring"), ("title", "pager.retitle"), ("end", "pager.resolve"), ("ack", "pager.acknowledge")],
)
def test_a_rate_limit_stops_the_errand_that_met_it(
    pager: StraightPager, rung: PageStatus, verb: str, name: str
) -> None:
    pager.account.faults.add("ratelimited", retry_after_s=9)
    errands: dict[str, Callable[[], object]] = {
        "ring": lambda: pager.ring(RING),
        "title": lambda: pager.retitle(rung.id, "x"),
        "end": lambda: pager.resolve(rung.id, key="fk-1", via="rest"),
        "ack": lambda: pager.acknowledge(rung.id, by="wei@example.com"),
    }
    with pytest.raises(VendorError) as caught:
        errands[verb]()
    assert (caught.value.method, caught.value.retry_after) == (name, 9)


def test_what_was_opened_on_another_service_under_the_same_key_is_found_and_ended_by_itself(
    pager: StraightPager, rung: PageStatus
) -> None:
    pager.account.add_service("Elsewhere", policy=next(iter(pager.account.account.policies)))
    elsewhere = pager.account.service("Elsewhere")
    pager.account.add_integration(elsewhere.id, name="Moved", key="1" * 32)
    moved = pager_on(pager.account, routing_key="1" * 32)
    moved.rest.is_down = True
    moved.ring(RING)
    moved.rest.is_down = False
    (twin,) = moved.twins(rung.id, key="fk-1", since=LONG_AGO)
    assert (twin.via, twin.status, twin.service) == ("events", "triggered", elsewhere.id)
    assert moved.resolve(twin.id, key="fk-1", via=twin.via)
    assert moved.twins(rung.id, key="fk-1", since=LONG_AGO) == []
    assert pager.look(rung.id) == rung

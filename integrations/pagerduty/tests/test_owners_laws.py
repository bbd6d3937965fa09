"""However incidents are grouped, merged or renamed: no page of ours resolves or renames someone else's incident.

An incident that someone opened by hand becomes our page's when people merge our page, and nothing else, into it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from integrations.pagerduty import fake
from integrations.pagerduty.adapter import events_api
from integrations.pagerduty.fake.records import Alert, Incident
from integrations.pagerduty.tests.straight import StraightPager, pager_on
from workflows.pager_port import PageRequest, PageStatus

GROUPINGS: Final = ("", "time", "intelligent", "content_based")
HERE: Final = "PVFIREKIND"  # the service of the fallback's routing key
KEY: Final = "firekind-0123456789abcdef"
CODENAME: Final = "amber-otter"
TITLE: Final = f"Checkout is down ({CODENAME})"
NEUTRAL: Final = f"{CODENAME} needs you"
OTHER_KEY: Final = "firekind-fedcba9876543210"
OTHER_TITLE: Final = f"Staging rehearsal ({CODENAME})"
PAGE: Final = PageRequest(KEY, "policy/PESECURITY", HERE, TITLE, "", "", codename=CODENAME)


@dataclass
class Desk:
    """A service that others use too: their alerts, their titles, and what we know of our page."""

    account: fake.FakeAccount
    pager: StraightPager
    known: PageStatus | None = None
    reported: list[Alert] = field(default_factory=list)
    named: dict[str, str] = field(default_factory=dict)  # titles that others chose, by incident
    closed: set[str] = field(default_factory=set)  # incidents that people themselves resolved or merged away

    def open(self) -> list[Incident]:
        """Return every open incident of the service."""
        return [one for one in self.account.account.incidents.values() if one.is_open and one.service == HERE]

    def theirs(self) -> list[Incident]:
        """Return the incidents that others opened."""
        return [self.account.acts.incident(id) for id in self.named]


def they_report(desk: Desk) -> None:
    before = set(desk.account.account.incidents)
    incident = desk.account.acts.trigger(HERE, "Disk is full on db-3")
    desk.reported.append(incident.alerts[-1])
    if incident.id not in before:
        desk.named[incident.id] = incident.title


def another_firekind_pages(desk: Desk) -> None:
    """It gave an incident of its own the same codename, and its page went out as an event too."""
    if all(one.key != OTHER_KEY for one in desk.reported):
        before, asked = set(desk.account.account.incidents), replace(PAGE, key=OTHER_KEY, title=OTHER_TITLE)
        assert desk.pager.events is not None
        desk.pager.events.send(events_api.trigger(asked))
        incident = max(desk.open(), key=lambda one: one.alerts[-1].id if one.alerts else "")
        desk.reported.append(next(one for one in incident.alerts if one.key == OTHER_KEY))
        if incident.id not in before:
            desk.named[incident.id] = incident.title


def they_open_by_hand(desk: Desk) -> None:
    incident = desk.account.acts.trigger(HERE, f"Look at {CODENAME} as well", who="wei")
    desk.named[incident.id] = incident.title


def they_rename_all(desk: Desk) -> None:
    for incident in desk.open():
        incident.title = "Renamed by people"
        if incident.id in desk.named:
            desk.named[incident.id] = incident.title


def they_merge_all(desk: Desk, *, into_last: bool) -> None:
    found = desk.open()
    if len(found) > 1:
        into, others = (found[-1], found[:-1]) if into_last else (found[0], found[1:])
        desk.account.acts.merge("wei", into.number, *(one.number for one in others))
        desk.closed |= {one.id for one in others}
        if {one.key for one in into.alerts} == {KEY}:  # opened by hand, with a title that looks like a page of ours
            desk.named.pop(into.id, None)


def we_page(desk: Desk) -> None:
    if desk.known is None:
        desk.known = desk.pager.ring(PAGE)


def we_page_while_it_is_down(desk: Desk) -> None:
    desk.pager.rest.is_down = True
    we_page(desk)
    desk.pager.rest.is_down = False


def we_find(desk: Desk) -> None:
    since = datetime.now(UTC) - timedelta(hours=1)
    found = desk.pager.find(KEY, service=HERE, since=since, codename=CODENAME)
    if desk.known is not None and found is not None:
        assert found.id not in desk.named, "what others opened is never taken for a page of ours"
        desk.known = found if found.id else desk.known


def we_rename(desk: Desk) -> None:
    if desk.known is not None:
        desk.pager.retitle(desk.known.id, NEUTRAL, key=KEY, codename=CODENAME)


def we_end(desk: Desk) -> None:
    if desk.known is not None:
        desk.pager.resolve(desk.known.id, key=KEY, via=desk.known.via, codename=CODENAME)


def we_end_without_its_id(desk: Desk) -> None:
    if desk.known is not None:
        desk.pager.resolve("", key=KEY, via=desk.known.via, codename=CODENAME)


def we_meddle_with_theirs(desk: Desk) -> None:
    """An older Firekind may have treated any of them as ours."""
    for incident in desk.theirs():
        desk.pager.retitle(incident.id, NEUTRAL, key=KEY, codename=CODENAME)
        desk.pager.resolve(incident.id, key=KEY, via="events", codename=CODENAME)
        desk.pager.resolve(incident.id, key=KEY, via="rest", codename=CODENAME)


STEPS: Final[list[Callable[[Desk], None]]] = [
    they_report,
    another_firekind_pages,
    they_open_by_hand,
    they_rename_all,
    lambda desk: they_merge_all(desk, into_last=True),
    lambda desk: they_merge_all(desk, into_last=False),
    we_page,
    we_page_while_it_is_down,
    we_find,
    we_rename,
    we_end,
    we_end_without_its_id,
    we_meddle_with_theirs,
]


def a_desk(grouping: str = "", **config: object) -> Desk:
    """Return a desk whose service groups alerts this way."""
    account = fake.demo()
    pager = pager_on(account)
    pager.targets()
    account.service(HERE).grouping = grouping
    account.service(HERE).grouping_config = dict(config)
    return Desk(account, pager)


def check(desk: Desk) -> None:
    """Check that nothing of theirs was resolved or renamed."""
    assert [one.summary for one in desk.reported if one.status == "resolved"] == []
    for incident in desk.theirs():
        assert incident.title == desk.named[incident.id]
        assert incident.is_open or incident.id in desk.closed


@settings(max_examples=150)
@given(grouping=st.sampled_from(GROUPINGS), steps=st.lists(st.sampled_from(STEPS), max_size=9))
def test_nothing_of_anyone_elses_is_touched(grouping: str, steps: list[Callable[[Desk], None]]) -> None:
    desk = a_desk(grouping)
    for step in steps:
        step(desk)
        check(desk)


@pytest.mark.parametrize("down", [False, True])
@pytest.mark.parametrize("grouping", GROUPINGS)
def test_our_part_of_it_ends_all_the_same(grouping: str, *, down: bool) -> None:
    desk = a_desk(grouping)
    they_report(desk)
    (we_page_while_it_is_down if down else we_page)(desk)
    we_find(desk)
    we_end(desk)
    check(desk)
    for incident in desk.account.account.incidents.values():
        assert incident.id in desk.named or not incident.is_open
        assert {alert.status for alert in incident.alerts if alert.key == KEY} <= {"resolved"}


@pytest.mark.parametrize("grouping", ["time", "intelligent"])
def test_a_page_that_joined_an_open_incident_says_of_which_and_rings_nobody(grouping: str) -> None:
    desk = a_desk(grouping)
    they_report(desk)
    (incident,) = desk.theirs()
    rang = len(desk.account.rang)
    we_page_while_it_is_down(desk)
    found = desk.pager.find(KEY, service=HERE, since=datetime.now(UTC) - timedelta(hours=1), codename=CODENAME)
    assert found is not None
    assert (found.id, found.status, found.via) == ("", "triggered", "events")
    assert found.joined == f"Firekind (#{incident.number})"
    assert len(desk.account.rang) == rang
    again = desk.pager.ring(PageRequest(KEY, PAGE.target, HERE, TITLE, "", "", unsure=True, codename=CODENAME))
    assert again.joined == found.joined
    assert len(desk.account.account.incidents) == 1, "PagerDuty knows the key as that of an open alert"


def test_others_that_join_ours_leave_it_ours_to_rename_and_not_to_resolve() -> None:
    desk = a_desk("time")
    we_page_while_it_is_down(desk)
    they_report(desk)
    we_find(desk)
    assert desk.known is not None
    (incident,) = desk.account.account.incidents.values()
    assert desk.known.id == incident.id
    we_rename(desk)
    we_end(desk)
    assert (incident.title, incident.is_open) == (NEUTRAL, True)
    assert {alert.key == KEY: alert.status for alert in incident.alerts} == {True: "resolved", False: "triggered"}


def test_a_page_that_holds_alerts_of_others_and_none_of_ours_is_left_open_and_that_is_said() -> None:
    desk = a_desk()
    we_page(desk)
    they_report(desk)
    ours, theirs = desk.account.account.incidents.values()
    desk.account.acts.merge("wei", ours.number, theirs.number)
    assert desk.known is not None
    assert desk.pager.resolve(desk.known.id, key=KEY, via="rest") is False
    assert ours.is_open
    assert desk.reported[0].status == "triggered"


def test_an_hour_of_grouping_is_over_after_an_hour() -> None:
    desk = a_desk("time", timeout=60)
    they_report(desk)
    desk.theirs()[0].created_at -= 3_700
    we_page_while_it_is_down(desk)
    we_find(desk)
    assert desk.known is not None
    assert desk.known.id not in {"", *desk.named}

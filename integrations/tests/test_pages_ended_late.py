"""A request to end a page is carried out only after the incident was reopened: people are paged again."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from incidents import lifecycle
from incidents.models import Incident
from integrations.tests.duty import Duty
from integrations.tests.late_house import LateHouse, Silence, late_house
from integrations.tests.test_pages_late import SECRET, hear, still_open
from workflows.models import Page


@pytest.fixture
def reopened(built_duty: Duty, db: None) -> Iterator[tuple[LateHouse, Incident]]:
    """A Major that was resolved and reopened; PagerDuty still holds the request to resolve its page."""
    with late_house(built_duty) as late:
        house, vendors = late.duty.house, late.vendors
        late.duty.account.add_subscription(secret=SECRET)
        dee = house.person("dee")
        incident = lifecycle.declare("Checkout is slow", by=dee, at=vendors.now, type=house.type("major"))
        late.pass_to(vendors.now + timedelta(minutes=1), incident)
        lifecycle.resolve(incident, by=dee, at=vendors.now)
        vendors.silences.append(Silence("PUT /incidents/*", 40, times=1))
        late.work(incident)
        vendors.silences.clear()
        assert vendors.held
        lifecycle.reopen(incident, by=dee, at=vendors.now)
        late.work(incident)
        yield late, incident


def live_on(late: LateHouse, incident: Incident, *, hears: str) -> None:
    """Let three minutes pass, in which we look or receive webhooks."""
    for _ in range(3):
        late.pass_to(late.vendors.now + timedelta(minutes=1), incident)
        if hears == "by looking":
            late.look(incident)
        else:
            hear(late.duty)
    assert not late.vendors.held


@pytest.mark.parametrize("hears", ["by looking", "by webhook"])
def test_people_are_paged_again(reopened: tuple[LateHouse, Incident], hears: str) -> None:
    late, incident = reopened
    live_on(late, incident, hears=hears)
    assert len(still_open(late.duty)) == 1
    assert late.duty.times_rung("max") == 2
    told = [one.text for one in incident.events.filter(kind="page")]
    assert not [text for text in told if text.startswith("Firekind resolved")]


@pytest.mark.parametrize("act", ["acknowledge", "resolve"])
@pytest.mark.parametrize("hears", ["by looking", "by webhook"])
def test_nobody_is_paged_again_once_someone_answered(
    reopened: tuple[LateHouse, Incident], hears: str, act: str
) -> None:
    late, incident = reopened
    page = Page.objects.get(incident=incident)
    getattr(late.duty.account.acts, act)("max", page.number)
    if hears == "by looking":
        late.look(incident)
    live_on(late, incident, hears=hears)
    assert late.duty.times_rung("max") == 1

"""The person who ends a page is named, once, whatever ends it here too and whenever their webhook arrives."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from incidents.models import Event
from integrations.tests.duty import Duty
from integrations.tests.test_pages_laws import Night, night
from workflows.models import Page

PAGE = "the page to Major incidents"
BY_ITSELF = f"PagerDuty resolved {PAGE} automatically, and no one seems to have acknowledged it"
ENDINGS = ["retype", "over"]
ORDERS = ["told before", "told after", "told twice after", "never told", "looked at after"]


def end_here(found: Night, how: str) -> None:
    """Let us end the page too."""
    found.take(how, "internal" if how == "retype" else True)
    found.settle(3)


@pytest.mark.parametrize("by", ["Max", "its service"])
@pytest.mark.parametrize("how", ENDINGS)
@pytest.mark.parametrize("order", ORDERS)
def test_a_page_that_ended_before_we_end_it_is_said_to_be_ended_by_whoever_did_and_once(
    built_duty: Duty, db: None, by: str, how: str, order: str
) -> None:
    with night(built_duty, "major") as found:
        found.take("settle", 3)
        found.waiting.clear()
        found.take(*("act", ("resolve", 0)) if by == "Max" else ("wait", 241))
        found.waiting = [one for one in found.waiting if "incident.resolved" in str(one)]
        if order == "told before":
            found.take("deliver", (0, False))
        end_here(found, how)
        if order.startswith("told"):
            found.take("deliver", (0, order == "told twice after"))
            found.take("deliver", (0, False))
        if order == "looked at after":
            found.poll(None)
        (said,) = ended(found)
        assert said in (
            [("Max", f"resolved {PAGE}")] if by == "Max" else [("", f"found {PAGE} resolved"), ("", BY_ITSELF)]
        )


@pytest.mark.parametrize("heard", ["told", "looked at"])
@pytest.mark.parametrize("is_acknowledged", [True, False])
def test_a_page_that_its_service_ends_while_people_respond_says_whether_anyone_was_on_it(
    built_duty: Duty, db: None, is_acknowledged: bool, heard: str
) -> None:
    with night(built_duty, "major") as found:
        for service in found.duty.account.account.services.values():
            service.acknowledgement_timeout = None
        found.take("settle", 3)
        if is_acknowledged:
            found.take("act", ("acknowledge", 0))
        while found.waiting:
            found.take("deliver", (0, False))
        found.take("wait", 241)
        while heard == "told" and found.waiting:
            found.take("deliver", (0, False))
        Page.objects.update(opened_at=timezone.now() - timedelta(minutes=2))
        found.poll(None)
        (said,) = ended(found)
        assert (said == ("", BY_ITSELF)) != is_acknowledged
        asks = Event.objects.filter(incident=found.incident, kind="page", data__ask="resolve").exists()
        assert asks == is_acknowledged, "whoever is asked whether it is over has been on it"


@pytest.mark.parametrize("how", ENDINGS)
@pytest.mark.parametrize("told", [True, False])
def test_a_page_that_we_end_is_said_to_be_ended_by_us_and_once(
    built_duty: Duty, db: None, how: str, told: bool
) -> None:
    with night(built_duty, "major") as found:
        found.take("settle", 3)
        end_here(found, how)
        found.waiting += found.duty.account.take_deliveries()
        while told and found.waiting:
            found.take("deliver", (0, False))
        found.poll(None)
        assert ended(found) == [("", f"resolved {PAGE}")]


def ended(found: Night) -> list[tuple[str, str]]:
    """Return who ended the page according to the timeline, and how."""
    rows = Event.objects.filter(incident=found.incident, kind="page", text__contains="resolved").order_by("n")
    return [
        (event.by.name if event.by else "", event.text.split(". ")[0].removesuffix(" in PagerDuty")) for event in rows
    ]

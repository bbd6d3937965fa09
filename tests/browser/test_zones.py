"""Times are in the browser's current zone, whatever the server was told before."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Page, expect

from stack.supervisor.running import Stack
from tests.browser.conftest import Sit, declare

pytestmark = pytest.mark.browser
HERE = "Asia/Tokyo"
OF_LAST_YEAR: Final = """
from datetime import datetime, timezone as zones
from django.utils import timezone
from incidents import lifecycle
from incidents.models import Person
last = datetime(timezone.now().year - 1, 6, 30, 23, 30, tzinfo=zones.utc)
print(lifecycle.declare("Old", by=Person.objects.get(name__startswith="Ada"), at=last).codename)
"""


@pytest.mark.parametrize("told", ["", "America/Lima", HERE], ids=["never", "elsewhere", "here"])
def test_times_are_in_the_zone_of_the_browser(sit: Sit, told: str) -> None:
    page = sit("Ada", timezone_id=HERE)
    name = declare(page, "Checkout is slow")
    page.context.clear_cookies(name="zone")
    if told:
        page.context.add_cookies([{"name": "zone", "value": told, "url": page.url}])
    page.goto(f"/incidents/{name}/")
    shown = page.locator("main time[data-show=clock]").first
    at = datetime.fromisoformat(shown.get_attribute("datetime") or "")
    expect(shown).to_contain_text(at.astimezone(ZoneInfo(HERE)).strftime("%H:%M"))
    page.wait_for_function("zone => document.cookie.split('; ').includes(`zone=${zone}`)", arg=HERE)
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-zone", HERE)


@pytest.mark.parametrize("told", ["", "America/Lima", HERE], ids=["never", "elsewhere", "here"])
def test_a_moment_of_another_year_says_so_in_every_zone(sit: Sit, running_stack: Stack, told: str) -> None:
    name = running_stack.manage("shell", "-c", OF_LAST_YEAR).stdout.split()[-1]
    page = sit("Ada", timezone_id=HERE)
    page.goto("/")
    page.context.clear_cookies(name="zone")
    if told:
        page.context.add_cookies([{"name": "zone", "value": told, "url": page.url}])
    page.goto(f"/incidents/{name}/")
    declared = page.locator("main time[data-show=moment]").first
    then = datetime.fromisoformat(declared.get_attribute("datetime") or "").astimezone(ZoneInfo(HERE))
    assert then.month == 7
    expect(declared).to_have_text(f"1 Jul {then.year}, 08:30")


def meeting_in(page: Page, zone: str) -> datetime:
    """Return the moment that the form to move the meeting would send, given by a zone's name."""
    form = page.locator("form", has=page.locator("#meeting-on"))
    expect(form.locator("[data-zone-name]")).to_have_text(zone)
    assert form.locator("[name=zone]").input_value() == zone
    return datetime.fromisoformat(page.locator("#meeting-on").input_value()).replace(tzinfo=ZoneInfo(zone))


@pytest.mark.parametrize("told", ["", "America/Lima", HERE], ids=["never", "elsewhere", "here"])
def test_a_meeting_that_is_filled_in_stays_at_its_moment_in_the_zone_of_the_browser(sit: Sit, told: str) -> None:
    page = sit("Ada", timezone_id=HERE)
    name = declare(page, "Checkout is slow")
    page.goto(f"/incidents/{name}/resolve")
    page.locator("#act-now").click()
    page.goto(f"/incidents/{name}/review")
    page.locator("summary", has_text="Plan the meeting").click()
    page.locator("#meeting-on").fill("2027-03-01T10:00")
    page.locator("#meeting-on").evaluate("one => one.form.querySelector('button').click()")
    expect(page.locator("summary", has_text="Move the meeting")).to_be_visible()
    page.context.clear_cookies(name="zone")
    if told:
        page.context.add_cookies([{"name": "zone", "value": told, "url": page.url}])
    page.goto(f"/incidents/{name}/review")
    expect(page.locator("#meeting-on")).to_have_value("2027-03-01T10:00")
    assert meeting_in(page, HERE) == datetime(2027, 3, 1, 1, tzinfo=UTC)

"""Times are in the zone the browser is in, whatever the server was told before."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Sit, declare

pytestmark = pytest.mark.browser
HERE = "Asia/Tokyo"


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

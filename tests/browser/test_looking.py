"""Finding one's way: the list and its address, by keyboard and back again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Sit, declare

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


@pytest.fixture
def page(sit: Sit) -> Page:
    return sit("Ada")


def test_a_filtered_list_has_an_address_that_is_gone_back_to(page: Page) -> None:
    codename = declare(page, "The zymurgy vats overflow")
    page.goto("/")
    page.keyboard.press("/")
    page.keyboard.type("zymurgies")
    expect(page).to_have_url(re.compile(r"/\?q=zymurgies$"))
    expect(page.locator(f"#i-{codename} mark")).to_have_text("zymurgy")
    page.locator("#more-filters summary").click()
    page.get_by_label("Lead", exact=True).fill("nobody of that name")
    page.get_by_label("Lead", exact=True).press("Enter")
    expect(page.get_by_text("No matches.")).to_be_visible()
    page.go_back()
    expect(page.locator(f"#i-{codename}")).to_be_visible()
    expect(page.get_by_label("Lead", exact=True)).to_have_value("")
    page.get_by_text("Save this view").click()
    page.get_by_label("Name, for yourself").fill("Vats")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Saved as Vats.")).to_be_visible()
    page.goto("/")
    page.get_by_role("link", name="Vats", exact=True).click()
    expect(page).to_have_url(re.compile(r"/\?q=zymurgies$"))
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"/incidents/{codename}/$"))

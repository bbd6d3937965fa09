"""Redacted words disappear from everything that shows them, including a history that someone has open."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Sit, declare

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser
SECRET = "hunter2"


def act(page: Page, opener: str, button: str, text: str = "") -> None:
    """Open a verb's dialog and send it."""
    page.locator(opener).first.click()
    if text:
        page.locator("#dialog").get_by_label("Text").fill(text)
    page.locator("#dialog").get_by_role("button", name=button).click()
    expect(page.locator("#dialog")).to_be_hidden()


@pytest.mark.parametrize("is_page", [False, True])
def test_a_history_that_is_open_forgets_what_is_redacted(sit: Sit, is_page: bool) -> None:
    lead, reader = sit("Ada"), sit("Lin")
    codename = declare(lead, "The vault answers strangers")
    act(lead, "text=Take the lead", "Set the lead")
    lead.get_by_label("Update or note").fill(f"The password is {SECRET}")
    lead.get_by_role("button", name="Post update").click()
    act(lead, "[id^='edit-']", "Save", text="The password leaked")
    reader.goto(f"/incidents/{codename}/")
    link = reader.locator("[id^='history-']").first
    if is_page:
        reader.goto(str(link.get_attribute("href")))
    else:
        link.click()
    history = reader.locator("#history")
    expect(history).to_contain_text(SECRET)
    act(lead, "[id^='redact-']", "Redact")
    expect(history).to_contain_text("redacted it")
    expect(reader.locator("body")).not_to_contain_text(SECRET)

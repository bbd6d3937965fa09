"""What a screen reader says about declaring and retyping, and how pages look on paper and in system colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Sit, declare

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

DECLARE = """
- textbox "What is wrong?"
- group "What type is it?":
  - radio "Ambiguous" [checked]
  - radio "Internal"
  - radio "Security"
  - radio "Time bomb"
  - radio "Isolated"
  - radio "Major"
- heading "What happens when you declare it as Ambiguous" [level=2]
- list:
  - listitem: "will be done: open a dedicated channel"
- paragraph: /Ambiguous .* brings in/
- button "Declare"
"""
RETYPE = """
- heading "What is it now?" [level=1]
- group "Type":
  - radio "Ambiguous" [disabled]
  - radio "Internal"
  - radio "Security" [checked]
- heading "Ambiguous becomes Security" [level=2]
- paragraph: /brings in/
- group "And you?":
  - list:
    - listitem:
      - radio "I'm coming along" [checked]
    - listitem:
      - radio "I'm staying out"
- region "Ambiguous becomes Security":
  - list:
    - listitem: /move the conversation to a new private channel/
  - heading "What that means" [level=3]
- paragraph: /brings in/
- textbox /What do you know now?/
- button "Retype to Security"
- link "Cancel"
"""


@pytest.fixture
def page(sit: Sit) -> Page:
    return sit("Ada")


def test_a_screen_reader_hears_what_is_declared_and_what_a_retype_would_do(page: Page) -> None:
    page.goto("/declare")
    expect(page.locator("main")).to_match_aria_snapshot(DECLARE)
    codename = declare(page, "The lamp smokes")
    page.goto(f"/incidents/{codename}/retype?to=security")
    expect(page.locator("main")).to_match_aria_snapshot(RETYPE)


def test_paper_shows_what_happened_and_nothing_to_press(page: Page) -> None:
    codename = declare(page, "The lamp smokes")
    expect(page.locator("#progress")).to_contain_text("all done", timeout=60_000)
    page.emulate_media(media="print", forced_colors="active")
    expect(page.get_by_role("heading", name="The lamp smokes")).to_be_visible()
    for gone in ("#composer", "#head .acts", ".bar", "#thumbs"):
        expect(page.locator(gone)).to_be_hidden()
    assert codename in page.locator("main").inner_text()
    entries = page.locator(".events > .event")
    expect(entries.nth(2)).to_be_attached()
    assert entries.count() == page.locator(".events > .event:visible").count() > 2, "folded and minor ones, too"


def test_a_name_that_runs_right_to_left_stands_in_its_own_direction(page: Page) -> None:
    declare(page, "\u05d4\u05d0\u05ea\u05e8 \u05d0\u05d9\u05d8\u05d9 checkout!")
    title = page.locator("#head .title")
    assert title.evaluate("node => getComputedStyle(node).unicodeBidi") == "plaintext"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_somebody_is_found_on_the_sign_in_page_by_what_they_do(page: Page) -> None:
    page.context.clear_cookies()  # otherwise signing in would end the session of the previous occupant
    page.goto("/sign-in/")
    page.get_by_label("Find someone by name or title").fill("head of security")
    expect(page.locator(".faces li:visible")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.get_by_label("You are Farah Haddad")).to_be_visible()

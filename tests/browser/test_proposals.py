"""A second manager confirms: without scripts, by keyboard, on a phone, in the dark theme."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.axe import faults_everywhere
from tests.browser.conftest import Sit
from tests.browser.walk import tab_to

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

CHECKLIST = "Write down who knows"


def asks(page: Page, words: str) -> str:
    """Propose another line in the private type's checklist; return the proposal's URL."""
    page.goto("/types/security/")
    page.get_by_label("Checklist").fill(f"{CHECKLIST}\n{words}")
    page.get_by_role("button", name="Preview changes").click()
    page.get_by_role("button", name="Request confirmation").click()
    expect(page.get_by_role("button", name="Withdraw")).to_be_visible()
    return page.url


def test_it_works_without_scripts_and_axe_finds_nothing(sit: Sit) -> None:
    grace, ada = sit("Grace"), sit("Ada", java_script_enabled=False)
    address = asks(ada, "Look at the dark side of it")
    for path in ("/types/", "/proposals/", address, "/types/security/adopt"):
        grace.goto(path)
        assert not faults_everywhere(grace)
    grace.goto(address)
    grace.get_by_role("button", name="Turn down").click()
    expect(grace.get_by_role("status").first).to_contain_text("Turned down")
    ada.goto(address)
    expect(ada.get_by_text("turned down by Grace")).to_be_visible()


def test_it_is_confirmed_by_keyboard_alone(sit: Sit) -> None:
    ada, grace = sit("Ada"), sit("Grace")
    asks(ada, "Ask who else holds the key")
    grace.goto("/")
    tab_to(grace, ".who summary")
    grace.keyboard.press("Enter")
    tab_to(grace, 'a[href="/proposals/"]')
    grace.keyboard.press("Enter")
    grace.wait_for_url("**/proposals/")
    tab_to(grace, ".proposals a.button")
    grace.keyboard.press("Enter")
    grace.wait_for_url("**/proposals/*/")
    tab_to(grace, 'form[action$="/confirm"] button')
    grace.keyboard.press("Enter")
    grace.wait_for_url("**/proposals/")
    grace.goto("/types/security/")
    expect(grace.get_by_label("Checklist")).to_have_value(f"{CHECKLIST}\nAsk who else holds the key")

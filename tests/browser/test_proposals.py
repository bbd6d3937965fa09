"""A second manager confirms: without scripts, by keyboard, on a phone, in the dark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Sit
from tests.browser.test_everybody import PHONE, faults, tab_to

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

CHECKLIST = "Write down who knows"


def asks(page: Page, words: str) -> str:
    """Ask for another line in the checklist of the private type; give the address of what waits then."""
    page.goto("/types/security/")
    page.get_by_label("Checklist").fill(f"{CHECKLIST}\n{words}")
    page.get_by_role("button", name="Preview changes").click()
    page.get_by_role("button", name="Request confirmation").click()
    expect(page.get_by_role("button", name="Withdraw")).to_be_visible()
    return page.url


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", ["desk", "phone"])
def test_it_works_without_scripts_and_axe_finds_nothing(scheme: str, size: str, sit: Sit) -> None:
    look = {"color_scheme": scheme, "viewport": PHONE} if size == "phone" else {"color_scheme": scheme}
    grace, ada = sit("Grace", **look), sit("Ada", java_script_enabled=False)
    address = asks(ada, f"Look at the {scheme} side of it, {size}")
    for path in ("/types/", "/proposals/", address, "/types/security/adopt"):
        grace.goto(path)
        assert not faults(grace), path
        assert grace.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), path
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

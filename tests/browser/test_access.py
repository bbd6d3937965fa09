"""Getting into a private incident, with two browsers: asking, being let in or not, and breaking the glass."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.axe import DESK, NARROW, faults, faults_everywhere
from tests.browser.conftest import Sit, declare
from tests.browser.walk import tab_to

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

REASON = "I wrote the export service and can tell who reads that bucket."


def asks(page: Page, codename: str) -> None:
    """See *not found*, and ask to be let in, by keyboard."""
    page.goto(f"/incidents/{codename}/")
    expect(page.get_by_role("heading", name="Page not found.")).to_be_visible()
    tab_to(page, 'a[href="/access/"]')
    page.keyboard.press("Enter")
    expect(page.get_by_text(codename)).to_be_visible()
    tab_to(page, "#because")
    page.keyboard.type(REASON)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("If this incident exists, its participants have been asked.")).to_be_visible()


def test_whoever_knocks_is_let_in_by_the_lead_and_the_page_opens(sit: Sit) -> None:
    lead, outside = sit("Ada"), sit("Priya")
    codename = declare(lead, "Tokens in a public bucket", type="Security")
    asks(outside, codename)

    # If a schedule is handed over at this very moment, that is offered in the same list.
    box = lead.locator("#access .asks-in").filter(has_text="Priya")
    expect(box).to_contain_text(REASON, timeout=30_000)
    for size in (NARROW, DESK):
        lead.set_viewport_size(size)
        expect(lead.get_by_role("link", name=re.compile("access request"))).to_be_visible(visible=size == NARROW)
    assert not faults_everywhere(lead)
    for path in ("access", "open-up"):
        lead.goto(f"/incidents/{codename}/{path}")
        assert not faults_everywhere(lead)
    lead.goto(f"/incidents/{codename}/")
    expect(box).to_be_visible()
    tab_to(lead, '#access [aria-label^="Let in: Priya"]')
    lead.keyboard.press("Enter")
    expect(box).to_have_count(0, timeout=30_000)
    expect(lead.locator("#newest")).to_contain_text("let Priya")

    outside.goto(f"/incidents/{codename}/")
    expect(outside.get_by_role("heading", level=1)).to_contain_text("Tokens in a public bucket")


def test_a_refusal_is_silent(sit: Sit) -> None:
    lead, outside = sit("Ada"), sit("Oliver")
    codename = declare(lead, "Tokens in a public bucket", type="Security")
    asks(outside, codename)
    pages = (f"/incidents/{codename}/", f"/access/{codename}", f"/access/{codename}?asked")
    before = [shown(outside, one) for one in pages]

    lead.get_by_role("button", name="Not now: Oliver").click(timeout=30_000)
    expect(lead.locator("#access .asks-in").filter(has_text="Oliver")).to_have_count(0, timeout=30_000)
    assert [shown(outside, one) for one in pages] == before
    assert not [one for one in before if "Tokens" in one]


def test_the_glass_is_broken_with_a_sentence_and_its_people_see_who_did(sit: Sit) -> None:
    lead, outside = sit("Ada"), sit("Mateo")
    codename = declare(lead, "Tokens in a public bucket", type="Security")
    outside.goto(f"/access/{codename}")
    tab_to(outside, ".glass a")
    outside.keyboard.press("Enter")
    outside.wait_for_url("**/now")
    assert not faults(outside)
    for because in ("urgent", "Our tokens are public and I can revoke them right now."):
        tab_to(outside, "#because")
        outside.keyboard.press("Control+a")
        outside.keyboard.type(because)
        outside.keyboard.press("Tab")
        outside.keyboard.press("Enter")
        if because == "urgent":
            expect(outside.get_by_role("alert")).to_be_visible()

    expect(outside.get_by_role("heading", level=1)).to_contain_text("Tokens in a public bucket")
    told = lead.locator("#newest")
    expect(told).to_contain_text("Mateo Herrera broke glass", timeout=30_000)
    expect(told).to_contain_text("I can revoke them right now")


def shown(page: Page, path: str) -> str:
    """Return the text of a page."""
    page.goto(path)
    return page.locator("body").inner_text()

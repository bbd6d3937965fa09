"""A capture as people see it: requested with one press, counting down, and then there."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.conftest import Sit, declare


def test_one_press_captures_and_counts_down_and_shows_what_came(sit: Sit) -> None:
    page = sit("Ada")
    codename = declare(page, "Checkout is slow again", type="Internal")
    page.goto(f"/incidents/{codename}/evidence/")
    captures = page.locator("#captures")
    captures.get_by_label("What").select_option(label="CPU from checkout-api")
    captures.get_by_label("Seconds").fill("3")
    captures.get_by_role("button", name="Capture").click()
    expect(captures.locator(".effect")).to_contain_text(
        re.compile(r"Capturing 3 s of CPU from checkout-api \([123] s left\)"), timeout=20_000
    )
    item = page.get_by_role("link", name="3 s of CPU from checkout-api")
    expect(item).to_be_visible(timeout=20_000)
    expect(page.locator(".proof")).to_contain_text("checkout.match_every_rule", timeout=30_000)
    expect(captures.locator(".effect")).to_have_count(0)


def test_naming_an_affected_service_shows_what_that_captures(sit: Sit) -> None:
    page = sit("Ada")
    page.goto("/declare")
    page.get_by_text("Summary, lead, services, drill").click()
    page.get_by_label("Affected services").fill("checkout")
    page.get_by_label("Affected services").press("Tab")
    expect(page.locator("#plan")).to_contain_text("capture 5 s of CPU from checkout-api")

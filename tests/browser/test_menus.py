"""The menus: by arrow keys, and on a phone in full above the bar at its bottom."""

from __future__ import annotations

import random

import pytest

from tests.browser.conftest import Sit, declare

pytestmark = pytest.mark.browser

ENTRIES = ".head .menu-list a"
ACTIVE = "() => document.activeElement.id"
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def test_arrow_keys_move_through_a_menu_and_escape_leaves_it(sit: Sit) -> None:
    page = sit()
    declare(page, "The menu is walked through")
    ids = page.locator(ENTRIES).evaluate_all("all => all.map(one => one.id)")
    summary = page.locator(".head .menu > summary")
    summary.focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate(ACTIVE) == ids[0]
    at, moves = 0, random.Random(7)
    for _ in range(40):
        key = moves.choice(["ArrowDown", "ArrowDown", "ArrowUp", "Home", "End"])
        at = {"ArrowDown": (at + 1) % len(ids), "ArrowUp": (at - 1) % len(ids), "Home": 0, "End": len(ids) - 1}[key]
        page.keyboard.press(key)
        assert page.evaluate(ACTIVE) == ids[at], key
    page.keyboard.press("Escape")
    assert not page.locator(".head .menu[open]").count()
    assert summary.evaluate("one => one === document.activeElement")
    page.keyboard.press("ArrowUp")
    assert page.evaluate(ACTIVE) == ids[-1], "from below it begins at the end"


def test_on_a_phone_every_entry_stands_above_the_bar(sit: Sit) -> None:
    page = sit(**PHONE)
    declare(page, "The menu is long, and so is what stands above it, as a title that takes up three lines of a phone")
    page.locator(".head .menu > summary").click()
    bar = page.locator("#thumbs").bounding_box()
    assert bar is not None
    for entry in page.locator(ENTRIES).all():
        entry.scroll_into_view_if_needed()
        box = entry.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= bar["y"]
        assert page.evaluate("() => scrollY") == 0, "the page behind it stays"


def test_keys_in_a_field_of_a_menu_are_the_fields(sit: Sit) -> None:
    page = sit()
    page.goto("/?status=active&q=menu")
    page.locator(".kept .menu > summary").first.click()
    name = page.locator(".kept .menu-list input[type=text], .kept .menu-list input:not([type])").first
    name.fill("ab")
    page.keyboard.press("Home")
    page.keyboard.type("x")
    assert name.input_value() == "xab"

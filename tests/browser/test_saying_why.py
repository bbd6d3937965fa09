"""The reason for a retype is written next to its button, and survives every change of the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Sit, declare

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page, ViewportSize

pytestmark = pytest.mark.browser

WHY = "Every region sees it now."
PHONE: Final[ViewportSize] = {"width": 390, "height": 760}
KEYBOARD: Final[ViewportSize] = {"width": 390, "height": 400}
DESK: Final[ViewportSize] = {"width": 1280, "height": 800}


def reason(page: Page) -> Locator:
    return page.get_by_label("What do you know now?")


def confirm(page: Page) -> Locator:
    return page.locator("#confirm [data-first]")


def apart(page: Page) -> float:
    """Return the distance from the reason field to the confirm button."""
    first, then = reason(page).bounding_box(), confirm(page).bounding_box()
    assert first is not None
    assert then is not None
    below = then["y"] - first["y"] - first["height"]
    beside = then["x"] - first["x"] - first["width"]
    return max(below, beside, 0)


@pytest.mark.parametrize("viewport", [PHONE, DESK], ids=["phone", "desk"])
def test_why_is_written_in_reach_of_the_button_wherever_one_reads(sit: Sit, viewport: ViewportSize) -> None:
    page = sit("Ada", viewport=viewport)
    codename = declare(page, "The kettle sings")
    page.goto(f"/incidents/{codename}/retype?to=security")
    for place in (page.locator("#plan-title"), page.locator("#means"), page.locator(".notes").last):
        place.scroll_into_view_if_needed()
        expect(reason(page)).to_be_in_viewport(ratio=1)
        expect(confirm(page)).to_be_in_viewport(ratio=1)
        assert apart(page) < 40
    reason(page).focus()
    page.keyboard.press("Tab")
    expect(confirm(page)).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(reason(page)).to_be_focused()
    page.keyboard.type("\n".join(["a line of many"] * 30))
    expect(confirm(page)).to_be_in_viewport(ratio=1)
    left = page.evaluate("document.querySelector('#confirm').getBoundingClientRect().top")
    assert left > viewport["height"] * 0.4, "the plan is read beside a long reason, too"


def test_what_has_the_keyboard_is_not_below_the_bar(sit: Sit) -> None:
    page = sit("Ada", viewport=PHONE)
    codename = declare(page, "The kettle sings")
    page.goto(f"/incidents/{codename}/retype?to=security")
    expect(confirm(page)).to_be_visible()
    page.locator("h1").click()
    bar = page.locator("#confirm")
    while not bar.evaluate("one => one.contains(document.activeElement)"):
        page.keyboard.press("Tab")
        hidden = bar.evaluate(
            "one => !one.contains(document.activeElement) && document.activeElement !== document.body"
            " && document.activeElement.getBoundingClientRect().bottom > one.getBoundingClientRect().top + 1"
        )
        assert not hidden, page.evaluate("document.activeElement.outerHTML")


def test_both_are_above_the_keyboard_of_a_phone(sit: Sit) -> None:
    page = sit("Ada", viewport=PHONE)
    codename = declare(page, "The kettle sings")
    page.goto(f"/incidents/{codename}/retype?to=major")
    reason(page).click()
    assert "interactive-widget=resizes-content" in (page.locator("[name=viewport]").get_attribute("content") or "")
    page.set_viewport_size(KEYBOARD)  # the space left for the page while it is shown
    expect(reason(page)).to_be_in_viewport(ratio=1)
    expect(confirm(page)).to_be_in_viewport(ratio=1)
    page.set_viewport_size({"width": 760, "height": 200})
    reason(page).scroll_into_view_if_needed()
    expect(page.locator("#confirm")).to_have_css("position", "static")


def test_what_was_written_outlives_every_plan(sit: Sit) -> None:
    page, other = sit("Ada"), sit("Mateo")
    codename = declare(page, "The kettle sings")
    page.goto(f"/incidents/{codename}/retype?to=major")
    reason(page).fill(WHY)
    for name in ("Security", "Isolated"):
        page.get_by_role("radio", name=name, exact=True).check()
        expect(page.get_by_role("button", name=f"Retype to {name}")).to_be_visible()
        expect(reason(page)).to_have_value(WHY)
    reason(page).focus()
    page.go_back()
    expect(page.get_by_role("button", name="Retype to Security")).to_be_visible()
    expect(reason(page)).to_have_value(WHY)
    page.goto(f"/incidents/{codename}/retype")
    expect(page.locator("#confirm")).to_have_count(0)
    page.get_by_role("radio", name="Isolated", exact=True).check()
    expect(reason(page)).to_have_value(WHY)
    for meanwhile in ("major", "isolated"):
        other.goto(f"/incidents/{codename}/retype?to={meanwhile}")
        confirm(other).click()
        other.wait_for_url(f"**/{codename}/")
        confirm(page).click()
        expect(page.get_by_role("alert")).to_contain_text("Nothing was done")
        expect(reason(page)).to_have_value(WHY)
    page.get_by_role("radio", name="Time bomb", exact=True).check()
    expect(page.get_by_role("button", name="Retype to Time bomb")).to_be_visible()
    expect(reason(page)).to_have_value(WHY)
    confirm(page).click()
    page.wait_for_url(f"**/{codename}/")
    expect(page.locator("#newest")).to_contain_text(WHY)


@pytest.mark.parametrize("to", ["internal", "time-bomb", "major", "security"])
def test_on_a_phone_what_confirms_covers_a_fifth_of_the_screen_at_most(sit: Sit, to: str) -> None:
    page = sit("Ada", viewport={"width": 390, "height": 844})
    codename = declare(page, "The kettle sings", type="Isolated")
    page.goto(f"/incidents/{codename}/retype?to={to}")
    bar = page.locator("#confirm").bounding_box()
    assert bar is not None
    assert bar["height"] <= 844 / 5

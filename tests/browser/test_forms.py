"""A verb's form at its own URL, for those who open it in a tab or go back to it: sent once, never duplicated.

`incidents/tests/test_forms_sent.py` sends every verb's form without scripts, `test_true.py` in its dialog.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.axe import faults
from tests.browser.conftest import Sit, declare
from tests.browser.walk import WALK, Step, fill

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = pytest.mark.browser
WRITTEN = (
    Step("update", {"What do we know, and what happens next?": "Looking."}, wrong={"What do": " "}),
    Step("note", {"Note": "Seen."}, wrong={"Note": " "}),
    Step("edit", {"Text": "Seen twice."}, wrong={"Text": " "}),
    Step("retract"),
)
ENDING = {"resolve", "duplicate"}
# One of each kind: someone is picked, words are refused, it ends in different ways, and nothing is asked.
KINDS = ("lead", "rename", "services", "resolve", "reopen", "duplicate", "reopen", "check")
SENT = tuple(next(step for step in WALK[1:] if step.verb == verb) for verb in KINDS)
ABOUT = {"edit": "[id^='edit-']", "retract": "[id^='retract-']"}


def test_a_form_at_its_own_address_is_sent_once_and_never_doubled(sit: Sit) -> None:
    page = sit("Ada")
    other = declare(page, "The first of its kind")
    here = f"/incidents/{declare(page, 'Checkout is slow', type='Isolated')}/"
    for step in (*WRITTEN, *SENT):
        address = address_of(page, here, step)
        if step.wrong is not None:
            refused(page, address, step)
        page.goto(address)
        fill(page.locator("#act"), step, other=other)
        page.locator("#act-now").click()
        expect(page).to_have_url(re.compile(f"{here}$"))
        expect(page.locator("main > .said")).to_be_visible()
        page.go_back()
        expect(page.locator("#act")).to_have_count(0 if step.verb in {*ENDING, "reopen"} else 1)
        expect(page.locator("dialog[open]")).to_have_count(0)


def refused(page: Page, address: str, step: Step) -> None:
    """Send invalid input: the error is shown in the same form, which stays the only one."""
    page.goto(address)
    for label, words in (step.wrong or {}).items():
        page.locator("#act").get_by_label(label).fill(words)
    page.locator("#act-now").click()
    expect(page.locator("#act .errorlist")).to_be_visible()
    expect(page.locator("#act")).to_have_count(1)
    expect(page.locator("dialog[open]")).to_have_count(0)


def address_of(page: Page, here: str, step: Step) -> str:
    """Return the URL of a verb's form; its subject is read from the incident's page."""
    if step.verb == "check":
        page.goto(here)
        return f"{here}check?item={page.locator('#checklist [name=item]').first.get_attribute('value')}"
    if step.verb not in ABOUT:
        return f"{here}{step.verb}"
    page.goto(here)
    return page.locator(ABOUT[step.verb]).first.get_attribute("href") or ""


def test_a_type_is_edited_by_keyboard_with_what_is_offered(sit: Sit) -> None:
    page = sit("Ada")
    page.goto("/types/internal/")
    box = page.get_by_role("combobox", name="Groups to bring in")
    box.press_sequentially("supp")
    expect(page.get_by_role("option", name="@support")).to_be_visible()
    box.press("ArrowDown")
    box.press("Enter")
    expect(page.get_by_role("button", name="Remove @support")).to_be_visible()
    page.get_by_role("button", name="Add a role").press("Enter")
    page.keyboard.type("Scribe")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.type("@support")
    page.get_by_role("button", name="Preview changes").press("Enter")
    expect(page.get_by_text("Scribe: @support")).to_be_visible()
    assert faults(page) == []


def test_who_is_chosen_while_a_search_is_on_its_way_stays_chosen(sit: Sit) -> None:
    page = sit("Ada")
    declare(page, "Checkout is slow")
    page.locator("#head .menu > summary").press("Enter")  # the link to a new channel moves it under a pointer
    page.locator("#do-bring").press("Enter")
    dialog = page.locator("#dialog")
    first, second = dialog.locator("#options input").nth(0), dialog.locator("#options input").nth(1)
    kept, dropped = (one.get_attribute("value") or "" for one in (first, second))
    second.check()

    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/people?*", hold)
    with page.expect_request("**/people?*"):  # sends a request with the second one chosen
        dialog.get_by_label("Find someone by name").fill("nobody is called that")
    first.check()
    second.uncheck()
    with page.expect_response("**/people?*"):
        held[0].continue_()
    expect(dialog.locator("#options input")).to_have_count(2)
    expect(dialog.locator(f"#options input[value='{dropped}']")).not_to_be_checked()
    expect(dialog.locator(f"#options input[value='{kept}']")).to_be_checked()
    dialog.locator("#act-now").press("Enter")
    expect(dialog).not_to_be_visible()


def test_what_was_wrong_is_not_said_of_what_is_typed_then(sit: Sit) -> None:
    page = sit("Ada")
    page.goto("/declare")
    page.get_by_role("button", name="Declare").click()
    title = page.get_by_label("What is wrong?")
    expect(title).to_have_attribute("aria-invalid", "true")
    expect(page.locator(".errorlist")).to_be_visible()
    title.press_sequentially("Checkout")
    expect(title).not_to_have_attribute("aria-invalid", "true")
    expect(page.locator(".errorlist")).to_have_count(0)


def test_a_palette_without_a_match_says_so_and_searches(sit: Sit) -> None:
    page = sit("Ada")
    page.goto("/types/")
    page.keyboard.press("Control+k")
    page.keyboard.type("nothing of the kind")
    expect(page.locator("#palette-count")).to_be_in_viewport()
    expect(page.locator("#palette-count")).to_contain_text("Nothing matches.")
    page.keyboard.press("Enter")
    page.wait_for_url("**/?q=nothing*")


def test_on_a_phone_a_message_covers_no_button_and_every_entry_has_a_thumbs_room(sit: Sit) -> None:
    page = sit("Ada", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    declare(page, "The kettle sings")
    page.locator("#text").fill("Seen.")
    page.locator("#keep-note").click()
    expect(page.locator("#toast")).not_to_be_empty()
    toast = page.locator("#toast").bounding_box()
    assert toast is not None
    assert toast["y"] + toast["height"] < 844 / 4
    edit = page.locator("[id^='edit-']").first
    edit.scroll_into_view_if_needed()
    box = edit.bounding_box()
    assert box is not None
    above = f"document.elementFromPoint({box['x'] + box['width'] / 2}, {box['y'] - 7}).id"
    assert page.evaluate(above) == edit.get_attribute("id")
    assert box["width"] >= 44

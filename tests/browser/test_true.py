"""After every verb, the open page offers what a fresh one offers: by keyboard, wherever it is opened."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Sit, declare
from tests.browser.truth import expect_focus, expect_true
from tests.browser.walk import WALK, Step, carry_out, fill

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser
HALF = "half a sentence"
PHONE = {"viewport": {"width": 390, "height": 844}}


def watch(page: Page, control: str) -> None:
    """Let somebody who only looks on have the focus where it will change, if they see it."""
    node = page.locator(control).first
    if node.is_visible():
        node.focus()


def test_after_every_verb_the_page_offers_what_a_fresh_one_does(sit: Sit) -> None:
    ada, mateo = sit("Ada"), sit("Mateo", **PHONE)
    other = declare(ada, "The first of its kind")
    name = declare(ada, "Checkout is slow", type="Isolated")
    expect(ada.locator("#progress")).to_contain_text("all done", timeout=60_000)
    mateo.goto(f"/incidents/{name}/")
    for page in (ada, mateo):
        page.locator("#text").fill(HALF)
    for n, step in enumerate(WALK):
        watch(mateo, step.control)
        carry_out(ada, step, other=other)
        for page in (ada, mateo):
            expect_true(page, after=f"{n} {step.verb}")
            expect_focus(page, after=f"{n} {step.verb}")
            expect(page.locator("#text")).to_have_value(HALF)


LOOKS: list[Any] = [pytest.param({}, id="scripts"), pytest.param({"java_script_enabled": False}, id="no scripts")]
WRITTEN = (
    Step("update", {"What do we know, and what happens next?": "Looking."}, wrong={"What do": " "}),
    Step("note", {"Note": "Seen."}, wrong={"Note": " "}),
    Step("edit", {"Text": "Seen twice."}, wrong={"Text": " "}),
    Step("retract"),
)
ENDING = {"mitigate", "resolve", "archive", "cancel", "duplicate"}
ABOUT = {"role": "#roles [aria-label^='Fill']", "edit": "[id^='edit-']", "retract": "[id^='retract-']"}


@pytest.mark.parametrize("look", LOOKS)
def test_a_form_at_its_own_address_is_sent_once_and_never_doubled(look: dict[str, Any], sit: Sit) -> None:
    page = sit("Ada", **look)
    other = declare(page, "The first of its kind")
    here = f"/incidents/{declare(page, 'Checkout is slow', type='Isolated')}/"
    for step in (*WRITTEN, *WALK):
        address = address_of(page, here, step)
        if step.wrong is not None:
            refused(page, address, step)
        page.goto(address)
        fill(page.locator("#act"), step, other=other)
        page.locator("#act-now").click()
        expect(page).to_have_url(re.compile(f"{here}$"))
        expect(page.locator("main > .said")).to_be_visible()
        if step.picks and not scripted(look):
            continue  # looking for somebody was a form of its own: browsers ask before they send that one again
        page.go_back()
        expect(page.locator("#act")).to_have_count(0 if step.verb in {*ENDING, "reopen"} else 1)
        expect(page.locator("dialog[open]")).to_have_count(0)


def scripted(look: dict[str, Any]) -> bool:
    """Whether scripts run in a browser."""
    return bool(look.get("java_script_enabled", True))


def refused(page: Page, address: str, step: Step) -> None:
    """Send what is wrong: it is said in the same form, which stays the only one."""
    page.goto(address)
    for label, words in (step.wrong or {}).items():
        page.locator("#act").get_by_label(label).fill(words)
    page.locator("#act-now").click()
    expect(page.locator("#act .errorlist")).to_be_visible()
    expect(page.locator("#act")).to_have_count(1)
    expect(page.locator("dialog[open]")).to_have_count(0)


def address_of(page: Page, here: str, step: Step) -> str:
    """Return where a verb's form is; what it is about is read off the incident's page."""
    if step.verb == "check":
        page.goto(here)
        return f"{here}check?item={page.locator('#checklist [name=item]').first.get_attribute('value')}"
    if step.verb not in ABOUT:
        return f"{here}{step.verb}"
    page.goto(here)
    return page.locator(ABOUT[step.verb]).first.get_attribute("href") or ""

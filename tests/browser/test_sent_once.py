"""What is sent twice in a hurry, by button and by key, is sent once, in dialogs too."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Sit, declare

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = pytest.mark.browser

# The field to write in, and what opens it; the button pressed is the one that sends.
FORMS: Final = (
    ("", "#text", "#post-update"),
    ("", "#text", "#keep-note"),
    ("#add-task", "#dialog [name=text]", "#act-now"),
    ("#do-mitigate", "#dialog textarea", "#act-now"),
    ("#do-resolve", "#dialog textarea", "#act-now"),
)
TWICE: Final = """([field, button]) => {
  const form = document.querySelector(field).form, pressed = form.querySelector(button);
  pressed.click();
  form.requestSubmit(pressed.disabled ? undefined : pressed);
  pressed.click();
}"""


def slow_to_answer(route: Route) -> None:
    """Delay responses a little."""
    if route.request.method == "POST":
        answer = route.fetch()
        time.sleep(0.5)
        route.fulfill(response=answer)
    else:
        route.continue_()


def press(page: Page, opener: str, field: str, words: str) -> None:
    """Open a form, if needed, and write in it."""
    if opener:
        page.locator(opener).first.evaluate("one => one.click()")
    page.locator(field).first.fill(words)


def test_a_form_that_is_sent_twice_in_a_hurry_goes_once(sit: Sit) -> None:
    page = sit("Ada")
    declare(page, "The pump coughs")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    page.route("**/incidents/**", slow_to_answer)
    for n, (opener, field, button) in enumerate(FORMS):
        press(page, opener, field, f"word {n}.")
        sent.clear()
        page.evaluate(TWICE, [field, button])
        expect(page.locator("main .event").filter(has_text=f"word {n}.")).to_have_count(1)
        expect(page.locator(".htmx-request")).to_have_count(0)
        assert len(sent) == 1, (opener, button)

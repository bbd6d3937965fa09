"""A page shows the response to its latest request, whatever arrives late."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Sit, declare

if TYPE_CHECKING:
    from playwright.sync_api import APIResponse, Page, Route

pytestmark = pytest.mark.browser
LOOKS = "document.dispatchEvent(new CustomEvent('firekind:{}'))"


class Held:
    """Responses held back until they are released, each as it was when requested."""

    def __init__(self, page: Page, address: str) -> None:
        self._page, self._address = page, re.compile(address)
        self._held: list[tuple[Route, APIResponse]] = []
        page.route(self._address, self._hold)

    def _hold(self, route: Route) -> None:
        self._held.append((route, route.fetch()))

    def look(self, event: str) -> None:
        """Have the page refresh until a response is held: a part just swapped in does not receive the first event."""
        for _ in range(200):
            self._page.evaluate(LOOKS.format(event))
            self._page.wait_for_timeout(50)
            if self._held:
                return
        pytest.fail(f"The page never asked for {self._address.pattern}")

    def let_go(self) -> None:
        """Deliver all of them, and hold nothing any more."""
        for route, answer in self._held:
            route.fulfill(response=answer)
        self._page.unroute(self._address)
        self._page.wait_for_timeout(300)


def write(page: Page, field: str, words: str) -> None:
    """Type into a field, as people do: leaving it tells the page that it changed."""
    page.locator(field).click()
    page.keyboard.type(words)


@pytest.mark.parametrize(("field", "words"), [("#sift-q", "pump"), ("#sift-person", "Ada")])
def test_who_goes_back_to_the_latest_sees_the_latest(sit: Sit, field: str, words: str) -> None:
    page = sit("Ada")
    declare(page, "The pump coughs")
    page.get_by_text("Filter, or jump to a time").click()
    write(page, field, words)
    page.keyboard.press("Enter")
    back = page.get_by_role("link", name="Back to the latest")
    expect(back).to_be_visible()
    for leaves in ("click", "Enter"):
        held = Held(page, "/timeline")
        held.look("changed")
        back.click() if leaves == "click" else back.press("Enter")
        held.let_go()
        expect(page.locator("#newest")).to_be_visible()
        expect(page.locator("#sifted")).to_be_empty()
        expect(page.locator(field)).to_have_value("")
        write(page, "#sift-q", "pump")
        expect(back).to_be_visible()


def test_a_look_that_began_before_a_filter_was_chosen_does_not_undo_it(sit: Sit) -> None:
    page = sit("Ada")
    ours, other = declare(page, "The zwickel leaks"), declare(page, "The sparge arm is stuck")
    page.goto("/")
    held = Held(page, "/$")
    held.look("closed")
    write(page, "#q", "zwickel")
    expect(page.locator(f"#i-{other}")).to_have_count(0)
    held.let_go()
    expect(page.locator(f"#i-{ours}")).to_be_visible()
    expect(page.locator(f"#i-{other}")).to_have_count(0)
    expect(page).to_have_url(re.compile("q=zwickel"))

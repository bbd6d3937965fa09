"""People at their browsers, using one stack that all browser tests share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from playwright.sync_api import expect, sync_playwright

from stack.services import chromium
from stack.supervisor.running import Stack
from tests.browser.pace import with_pace
from tests.browser.seats import Seats

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Sit = Callable[..., "Page"]

expect.set_options(timeout=30_000)  # for slow, busy machines; it does not delay what arrives sooner


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Yield one Chromium for all modules in this folder, which need neither Django's database nor their own loop."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium.require(), args=chromium.flags())
        yield started
        started.close()


@pytest.fixture(scope="package")
def seats(browser: Browser, running_stack: Stack) -> Seats:
    """Return seats at the shared stack."""
    return Seats(browser, base_url=running_stack.base_url)


@pytest.fixture
def sit(seats: Seats, running_stack: Stack) -> Iterator[Sit]:
    """Let people sit down: `sit("Ada")` gives Ada an empty page, signed in.

    A script that fails, or that the page's policy refuses, fails the test. Earlier access requests are removed: people
    may ask once in fifteen minutes, and the stack outlives a test.
    """
    with psycopg.connect(running_stack.database_url, autocommit=True) as database:
        database.execute("DELETE FROM incidents_knock")
    wrong: list[str] = []

    def sat(who: str = "Ada", **look: Any) -> Page:
        page = seats.take(who, **look)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if "Content Security" in said.text else None)
        return page

    yield sat
    seats.leave()
    assert not wrong


def tabs_of(sit: Sit, who: str, addresses: Sequence[str]) -> dict[str, Page]:
    """Open each URL in its own tab, four per browser of someone, because a browser has six connections.

    Their clocks can run `faster`.
    """
    tabs: dict[str, Page] = {}
    for first in range(0, len(addresses), 4):
        browser = sit(who).context
        for address in addresses[first : first + 4]:
            tabs[address] = with_pace(browser.new_page())
            tabs[address].goto(address)
    return tabs


def declare(page: Page, title: str, *, type: str = "Ambiguous") -> str:
    """Declare an incident as the person who sits there, open its page, and return its codename.

    The form is sent without filling it in: `declare_by_hand` does that.
    """
    token = next(one.get("value") for one in page.context.cookies() if one.get("name") == "csrftoken")
    form: dict[str, str | float | bool] = {
        "csrfmiddlewaretoken": token or "",
        "title": title,
        "type": type.lower(),
    }
    answer = page.request.post("/declare", form=form, max_redirects=0)
    assert answer.status == 302, answer.text()
    page.goto(answer.headers["location"])
    return codename_of(page)


def declare_by_hand(page: Page, title: str, *, type: str = "Ambiguous") -> str:
    """Declare an incident on its page, and return its codename."""
    page.goto("/declare")
    page.get_by_label("What is wrong?").fill(title)
    page.get_by_role("radio", name=type, exact=True).check()
    page.get_by_role("button", name="Declare").click()
    page.wait_for_url("**/incidents/*/")
    return codename_of(page)


def codename_of(page: Page) -> str:
    """Return the codename of the incident whose page is open."""
    return page.url.rstrip("/").rsplit("/", 1)[1]

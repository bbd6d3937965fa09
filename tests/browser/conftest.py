"""People at their browsers, in front of one stack that all browser tests share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from playwright.sync_api import expect

from stack.running import Stack

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

Sit = Callable[..., "Page"]

expect.set_options(timeout=30_000)  # a busy machine is slow; what is there sooner is not waited for


@pytest.fixture
def sit(browser: Browser, running_stack: Stack) -> Iterator[Sit]:
    """Let people sit down: `sit("Ada")` gives a page on which Ada is signed in.

    A script that fails, or that the page's policy refuses, fails the test. Nobody here asked to be let in before:
    people may ask once in fifteen minutes, and the stack outlives a test.
    """
    with psycopg.connect(running_stack.database_url, autocommit=True) as database:
        database.execute("DELETE FROM incidents_knock")
    contexts: list[BrowserContext] = []
    wrong: list[str] = []

    def sat(who: str = "Ada", **look: Any) -> Page:
        context = browser.new_context(base_url=running_stack.base_url, reduced_motion="reduce", **look)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if "Content Security" in said.text else None)
        page.goto("/sign-in/")
        page.get_by_role("button", name=who).click()
        page.wait_for_url("**/")
        return page

    yield sat
    for context in contexts:
        context.close()
    assert not wrong


def declare(page: Page, title: str, *, type: str = "Ambiguous") -> str:
    """Declare an incident in the browser, and return its codename."""
    page.goto("/declare")
    page.get_by_label("What is wrong?").fill(title)
    page.get_by_role("radio", name=type, exact=True).check()
    page.get_by_role("button", name="Declare").click()
    page.wait_for_url("**/incidents/*/")
    return page.url.rstrip("/").rsplit("/", 1)[1]

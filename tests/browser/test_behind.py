"""An open page whose stream is gone: it says so once, keeps what was typed, and catches up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import pytest
from playwright.sync_api import expect

from stack.services import postgres
from stack.services.away import frozen
from stack.supervisor.running import Stack
from tests.browser.conftest import Sit, declare, tabs_of
from tests.browser.pace import faster
from tests.browser.test_closing_pages import send

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SOON_MS: Final = 90_000  # a page without an incident asks every half minute, and waits ten seconds for a response
HALF: Final = "half a sentence"
BEHIND: Final = "#offline:not([hidden])"
# What it says, each time that changes.
WATCHED: Final = """() => {
  const banner = document.getElementById("offline");
  window.said = [];
  new MutationObserver(() => {
    const words = banner.hidden ? "" : banner.innerText.trim();
    if (words !== (window.said.at(-1) ?? "")) window.said.push(words);
  }).observe(banner, { attributes: true, subtree: true, childList: true, characterData: true });
}"""
TYPED: Final = {"": "#text", "retype?to=major": "#because", "findings/": "#id_claim", "/declare": "#id_title"}
NOTES: Final = """
from django.utils import timezone
from incidents import lifecycle
from incidents.models import Incident
incident = Incident.objects.get(codename="{codename}")
for n in range({first}, {last}):
    lifecycle.note(incident, text=f"note {{n}}.", by=incident.declared_by, at=timezone.now())
"""
SHOWN: Final = r"""() => [...document.querySelectorAll("#newest .event")].map((one) => one.innerText)
  .flatMap((text) => [...text.matchAll(/note (\d+)\./g)].map(([, n]) => Number(n)))"""


@contextmanager
def web_killed(stack: Stack, tabs: list[Page]) -> Iterator[None]:
    stack.kill9("web")
    with faster(*tabs):
        yield
    stack.start("web")


@contextmanager
def database_gone(stack: Stack, tabs: list[Page]) -> Iterator[None]:
    postgres.stop(stack.servers["postgres"])
    with faster(*tabs):
        yield
    stack.servers["postgres"].start()


@contextmanager
def network_gone(stack: Stack, tabs: list[Page]) -> Iterator[None]:
    """Take the browser offline. Chromium lets open streams live on, so what would write to them is frozen."""
    with frozen(stack.processes["web"]):
        for tab in tabs:
            tab.context.set_offline(True)
        yield
    for tab in tabs:
        tab.context.set_offline(False)


def opened(sit: Sit, here: str, ended: str) -> dict[str, Page]:
    """Open pages of one incident, the review of another, and some about none; begin a sentence where possible."""
    below = ("", "timeline", "alerts", "retype?to=major", "resolve", "findings/", "pages", "progress")
    others = (f"/incidents/{ended}/review", "/", "/follow-ups", "/reviews", "/oncall/", "/declare", "/types/security/")
    tabs = tabs_of(sit, "Ada", (*(f"{here}{one}" for one in below), *others))
    for path, tab in tabs.items():
        tab.evaluate(WATCHED)
        if field := TYPED.get(path.removeprefix(here)):
            tab.locator(field).fill(HALF)
    return tabs


def is_caught_up(page: Page, last: int) -> None:
    """Expect a timeline to show all notes up to one: none missing, none twice, in order."""
    expect(page.locator("#newest")).to_contain_text(f"note {last}.")
    shown = page.evaluate(SHOWN)
    assert shown == list(range(shown[0], shown[0] - len(shown), -1))


def test_every_open_page_says_once_that_it_is_behind_keeps_what_was_typed_and_catches_up(
    sit: Sit, running_stack: Stack
) -> None:
    ada = sit("Ada")
    ended = declare(ada, "The pump has stopped")
    send(ada, f"/incidents/{ended}/resolve")
    codename = declare(ada, "The pump coughs")
    here = f"/incidents/{codename}/"
    tabs = opened(sit, here, ended)
    for happens, wrote in ((network_gone, 30), (web_killed, 60), (database_gone, 60)):
        with happens(running_stack, list(tabs.values())):
            for path, tab in tabs.items():
                behind = expect(tab.locator(BEHIND), f"{path} {happens.__name__}")
                behind.to_contain_text("No connection since", timeout=SOON_MS)
            if happens is not database_gone:
                notes = NOTES.format(codename=codename, first=wrote - 30, last=wrote)
                running_stack.manage("shell", "--no-imports", "-c", notes)
        for path, tab in tabs.items():
            expect(tab.locator(BEHIND), f"{path} {happens.__name__}").to_have_count(0, timeout=SOON_MS)
        is_caught_up(tabs[here], wrote - 1)
    for path, tab in tabs.items():
        said = tab.evaluate("window.said")
        assert [bool(one) for one in said] == [True, False] * 3, (path, said)
        if field := TYPED.get(path.removeprefix(here)):
            expect(tab.locator(field)).to_have_value(HALF)


def test_nothing_is_said_while_only_the_broker_is_silent(sit: Sit, running_stack: Stack) -> None:
    page = sit("Ada")
    declare(page, "The pump coughs")
    page.evaluate(WATCHED)
    with frozen(running_stack.servers["redis"]):
        page.locator("#text").fill("Looking.")
        page.locator("#keep-note").click()
        expect(page.locator("#newest .event").filter(has_text="Looking.")).to_have_count(1)
        expect(page.locator("#toast")).not_to_be_empty()
    assert page.evaluate("window.said") == []


def test_who_got_no_answer_may_send_a_form_again_and_not_twice_at_once(sit: Sit) -> None:
    page = sit("Ada")
    page.goto("/declare")
    page.locator("#id_title").fill("The pump coughs and waits")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.method) if request.method == "POST" else None)
    page.route("**/declare", lambda route: route.fulfill(status=204))  # the page stays, as when someone presses Stop
    button = page.get_by_role("button", name="Declare")
    button.dblclick()
    page.locator("#id_title").press("Enter")
    assert len(sent) == 1
    page.evaluate("() => { const later = Date.now() + 21_000; Date.now = () => later; }")
    button.click()
    assert len(sent) == 2

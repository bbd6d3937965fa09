"""Whatever network is between a browser and Firekind, a page says when it is behind, and catches up by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from typing import TYPE_CHECKING, Final

import psycopg
import pytest
from playwright.sync_api import expect

from stack.errors import StackError
from stack.outside import waiting
from stack.supervisor.running import Stack
from tests.browser.conftest import Sit, declare
from tests.browser.network import NONE, PORTAL, Network, NetworkFault, network
from tests.browser.pace import hurry, with_pace
from tests.browser.test_behind import NOTES, is_caught_up

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page, Route

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SOON_S: Final = 60
FASTER: Final = 5  # a time-out of ten seconds takes two, which a busy machine needs to answer
CONNECTIONS: Final = 6  # that a browser opens to one address
WORDS: Final = "The pool is empty, and we know why"
SEVERAL: Final = 8
LOST: Final = frozenset({b"etag", b"vary", b"date", b"cache-control", b"x-accel-buffering", b"hx-trigger", b"firekind"})
# Pages get through these, later at most.
PASSES: Final = {
    "holds streams": NetworkFault(holds=True),
    "cuts streams": NetworkFault(cuts_s=2),
    "loses headers, zips and speaks HTTP/1.0": NetworkFault(loses=LOST, zips=True, http10=True),
    "delays": NetworkFault(delays_s=5),
    "forgets connections": NONE,
}
# Nothing gets through these; what they answer is not ours.
BLOCKS: Final = {
    "not found": NetworkFault(answers=404),
    "portal": NetworkFault(answers=200),
    "swallows": NetworkFault(delays_s=3600),
}
# What a page must never show, however briefly.
WATCHED: Final = r"""() => {
  window.broken = new Set();
  const look = () => {
    const shown = [...document.querySelectorAll("main .event")].map((one) => one.innerText);
    const notes = shown.flatMap((text) => [...text.matchAll(/note (\d+)\./g)].map(([, n]) => Number(n)));
    if (notes.some((n, at) => at && n >= notes[at - 1])) broken.add(`notes ${notes}`);
    if (document.querySelector(".foreign") || document.title.includes("Hotel")) broken.add("not ours");
  };
  new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true });
}"""
SAYS: Final = r"""() => {
  const banner = document.getElementById("offline");
  if (!banner) return "not ours";
  if (!banner.hidden) return banner.innerText.includes("No connection since") ? "behind" : banner.innerText;
  const [newest] = document.querySelector("#newest")?.innerText.match(/note \d+\./) ?? [];
  return newest ?? "";
}"""


@pytest.fixture
def networks(running_stack: Stack) -> Iterator[dict[str, Network]]:
    """Run one network of each kind, without its fault yet."""
    with ExitStack() as running:
        names = (*PASSES, *BLOCKS)
        yield {name: running.enter_context(network(running_stack.base_url)) for name in names}


def write(stack: Stack, here: str, *, first: int, last: int) -> None:
    """Write notes while no page does."""
    codename = here.strip("/").rpartition("/")[2]
    stack.manage("shell", "--no-imports", "-c", NOTES.format(codename=codename, first=first, last=last))


def states(tabs: dict[tuple[str, str], Page]) -> dict[tuple[str, str], str]:
    """Return what each page says of itself: behind, current, or nothing yet."""
    return {key: tab.evaluate(SAYS) for key, tab in tabs.items()}


def settled(tabs: dict[tuple[str, str], Page], expected: dict[tuple[str, str], str]) -> dict[tuple[str, str], str]:
    """Wait until every page says what is expected; return those that do not."""
    with suppress(StackError):
        waiting.until(lambda: states(tabs) == expected, what="what pages say", timeout_s=SOON_S)
    return {key: said for key, said in states(tabs).items() if said != expected[key]}


def opened(ada: Page, here: str, networks: dict[str, Network]) -> dict[tuple[str, str], Page]:
    """Open a page behind each network, where possible with a faster clock."""
    tabs: dict[tuple[str, str], Page] = {}
    for name, one in networks.items():
        for path in (here, "/oncall/") if name == "portal" else (here,):
            tabs[name, path] = tab = with_pace(ada.context.new_page())
            tab.goto(f"{one.url}{path}")
            tab.evaluate(WATCHED)
            if name != "delays":  # it delays by seconds
                hurry(tab, FASTER)
    return tabs


def test_a_page_says_when_it_is_behind_and_catches_up_through_any_network(
    sit: Sit, running_stack: Stack, networks: dict[str, Network]
) -> None:
    ada = sit("Ada")
    here = f"/incidents/{declare(ada, 'The pump coughs')}/"
    tabs = opened(ada, here, networks)
    for name, one in networks.items():
        one.fault = (PASSES | BLOCKS)[name]
        if name == "forgets connections":
            one.forget()
    write(running_stack, here, first=0, last=5)
    assert not settled(tabs, {(name, path): "behind" if name in BLOCKS else "note 4." for name, path in tabs})
    for name in BLOCKS:
        networks[name].fault = NONE
    write(running_stack, here, first=5, last=7)
    assert not settled(tabs, {(name, path): "note 6." if path == here else "" for name, path in tabs})
    for (name, path), tab in tabs.items():
        if path == here:
            is_caught_up(tab, 6)
        assert not tab.evaluate("[...broken]"), (name, path)


def test_tabs_leave_connections_to_each_other(sit: Sit, running_stack: Stack) -> None:
    ada = sit("Ada")
    here = f"/incidents/{declare(ada, 'The pump coughs')}/"
    with network(running_stack.base_url) as one:
        tabs = []
        for _ in range(SEVERAL):
            tab = with_pace(ada.context.new_page())
            tab.goto(f"{one.url}{here}")
            hurry(tab, FASTER)
            tabs.append(tab)
        assert 0 < one.streams < CONNECTIONS
        tabs[-1].locator("#text").fill("note 1.")
        tabs[-1].locator("#keep-note").click()
        for tab in tabs:
            expect(tab.locator("#newest")).to_contain_text("note 1.")
        tabs[0].close()


def write_update(page: Page) -> Locator:
    """Write an update."""
    if not page.locator("#text").input_value():
        page.locator("#text").fill(WORDS)
    return page.locator("#post-update")


def choose_page(page: Page) -> Locator:
    """Choose who to page."""
    if not page.locator("#page-now").is_visible():
        page.locator("#page-somebody").click()
        page.get_by_label("Who?").select_option(index=1)
    return page.locator("#page-now")


def open_evidence(page: Page) -> Locator:
    """Open the page on which files are added."""
    if "/evidence/" not in page.url:
        page.goto(f"{page.url}evidence/")
    return page.locator("#files")


def choose_type(page: Page) -> Locator:
    """Choose another type; once it has that type there is nothing to confirm."""
    page.goto(f"{page.url.partition('retype')[0]}retype?to=major")
    return page.locator("#confirm [data-first]")


def press(control: Locator, page: Page) -> None:
    """Press a button, or choose a file where one is added as soon as it is chosen."""
    if "/evidence/" in page.url:
        control.set_input_files({"name": "a.folded", "mimeType": "text/plain", "buffer": b"main;work 7\n"})
    elif "retype" not in page.url or control.count():
        control.click()


INCIDENT: Final = "(SELECT id FROM incidents_incident WHERE codename = %s)"
VERBS: Final[dict[Callable[[Page], Locator], str]] = {
    write_update: "incidents_event WHERE kind = 'updated' AND incident_id = {}",
    choose_page: "incidents_event WHERE kind = 'paged' AND incident_id = {}",
    open_evidence: "evidence_evidence WHERE incident_id = {}",
    choose_type: "incidents_event WHERE kind = 'retyped' AND incident_id = {}",
}


def times(database: psycopg.Connection, asked: str, codename: str) -> int:
    """Return how often something was done."""
    found = database.execute(f"SELECT count(*) FROM {asked.format(INCIDENT)}", [codename]).fetchone()  # noqa: S608 (ours)
    return int(found[0]) if found else 0


SHOWN: Final = "body:has(#toast:not(.gone)), #uploads"  # a message that is over stays in the page, unseen
UNANSWERED: Final = (NetworkFault(answers=504, late=True, method="POST"), NetworkFault(answers=200, method="POST"))


@pytest.mark.parametrize("verb", VERBS)
def test_a_form_without_our_answer_says_that_no_one_knows_and_a_second_press_does_nothing_twice(
    sit: Sit, running_stack: Stack, verb: Callable[[Page], Locator]
) -> None:
    page = sit("Ada")
    with (
        network(running_stack.base_url) as one,
        psycopg.connect(running_stack.database_url, autocommit=True) as database,
    ):
        for fault in UNANSWERED:
            name = declare(page, "The pump coughs")
            page.goto(f"{one.url}/incidents/{name}/")
            control = verb(page)
            expect(control).to_be_attached()
            one.fault = fault
            press(control, page)
            if verb is choose_type:
                expect(page.locator(".foreign").first).to_be_visible()
                page.goto(f"{one.url}/incidents/{name}/")
            expect(page.locator(SHOWN).get_by_text("may have")).to_be_visible()
            one.fault = NONE
            press(verb(page), page)
            expect(page.locator(SHOWN).get_by_text("may have")).to_have_count(0)
            expect(page.locator(".htmx-request")).to_have_count(0)
            done = partial(times, database, VERBS[verb], name)
            waiting.until(done, what="it is done")
            assert done() == 1, fault


def test_a_page_whose_scripts_did_not_arrive_says_that_it_is_not_updating(sit: Sit) -> None:
    page = sit("Ada")
    name = declare(page, "The pump coughs")
    words = page.get_by_text("updating. Reload it")
    expect(words).to_be_hidden()
    page.route("**/*.js", lambda route: route.fulfill(status=502, content_type="text/html", body=PORTAL))
    page.goto(f"/incidents/{name}/")
    expect(words).to_be_visible()


def test_a_laptop_that_wakes_without_a_network_says_so_before_anything_fails(sit: Sit, running_stack: Stack) -> None:
    page = with_pace(sit("Ada"))
    here = f"/incidents/{declare(page, 'The pump coughs')}/"
    held: list[Route] = []
    page.evaluate("() => { htmx.config.timeout = 0; AbortSignal.timeout = () => new AbortController().signal; }")

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**", hold)
    page.evaluate("() => { const now = Date.now; Date.now = () => now() + 3600_000; }")
    expect(page.locator("#offline")).to_contain_text("No connection since")
    for route in held:
        route.abort()
    page.unroute("**")
    hurry(page, FASTER)
    write(running_stack, here, first=0, last=1)
    expect(page.locator("#newest")).to_contain_text("note 0.")
    expect(page.locator("#offline")).to_be_hidden()

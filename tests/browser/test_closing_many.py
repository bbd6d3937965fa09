"""A page may show any number of incidents: each that closes disappears from it, and the requests do not grow."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from incidents.live.live_stream import HELLO
from tests.browser.conftest import Sit
from tests.browser.pace import hurry, with_pace

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = pytest.mark.browser

NAMED, AT_ONCE = 250, 100
FASTER = 5  # than to ask for the next ones after five seconds
ROWS = """count => {
  const list = document.createElement("ul");
  list.id = "many";
  const row = (_, n) => `<li><a href="/incidents/row-${n}/">Row ${n}</a></li>`;
  list.innerHTML = Array.from({ length: count }, row).join("");
  document.querySelector("main").append(list);
  document.dispatchEvent(new CustomEvent("firekind:shown"));
}"""
COUNTED = """() => {
  let open = 0;
  window.most = 0;
  window.EventSource = class extends EventSource {
    constructor(...given) { super(...given); window.most = Math.max(window.most, ++open); }
    close() { if (this.readyState !== 2 || !this.ended) { this.ended = true; open--; } super.close(); }
  };
}"""


def answering(gone: set[str], questions: list[tuple[bool, list[str]]]) -> Callable[[Route], None]:
    """Respond like the server, about incidents that do not exist."""

    def answer(route: Route) -> None:
        given = parse_qs(urlsplit(route.request.url).query, keep_blank_values=True)
        names = given.get("of", [])
        questions.append(("now" in given, names))
        closed = "".join(
            f"event: closed\ndata: {place}\n\n" for place, name in enumerate(names[:AT_ONCE]) if name in gone
        )
        route.fulfill(body=f"{HELLO}{closed}", content_type="text/event-stream")

    return answer


def rows(page: Page) -> set[str]:
    found: list[str] = page.locator("#many li").evaluate_all("all => all.map(one => one.textContent)")
    return {one.lower().replace(" ", "-") for one in found}


def test_a_page_that_names_many_drops_any_of_them_that_closes(sit: Sit) -> None:
    page = with_pace(sit("Marcus"))
    gone: set[str] = set()
    questions: list[tuple[bool, list[str]]] = []
    page.route("**/closings/stream*", answering(gone, questions))
    page.add_init_script(f"({COUNTED})()")
    page.goto("/types/")
    hurry(page, FASTER)
    page.evaluate(ROWS, NAMED)
    everything = {f"row-{n}" for n in range(NAMED)}
    for closing in ({"row-100", "row-249"}, {"row-0", "row-99", "row-150", "row-248"}, {"row-200"}):
        page.wait_for_timeout(1500)  # the first requests were sent
        assert rows(page) == everything - gone
        gone |= closing
        expect(page.locator("#many li")).to_have_count(NAMED - len(gone))
        assert rows(page) == everything - gone
    assert max(len(names) for _, names in questions) <= AT_ONCE
    assert page.evaluate("window.most") == 1, "one stream a page"
    streamed, asked = (
        {name for at_once, names in questions if at_once is one for name in names} for one in (False, True)
    )
    assert streamed | asked == everything


def test_a_page_that_names_few_asks_nothing_beside_its_stream(sit: Sit) -> None:
    page = sit("Marcus")
    questions: list[tuple[bool, list[str]]] = []
    page.route("**/closings/stream*", answering(set(), questions))
    page.goto("/types/")
    page.evaluate(ROWS, AT_ONCE)
    page.wait_for_timeout(2500)
    assert questions
    assert not any(at_once for at_once, _ in questions)


def test_a_tab_that_is_looked_at_again_asks_about_all_at_once(sit: Sit) -> None:
    page = with_pace(sit("Marcus"))
    gone: set[str] = set()
    questions: list[tuple[bool, list[str]]] = []
    page.route("**/closings/stream*", answering(gone, questions))
    page.goto("/types/")
    hurry(page, FASTER)
    page.evaluate("Object.defineProperty(document, 'hidden', { get: () => window.away === true, configurable: true })")
    page.evaluate(ROWS, NAMED)
    page.wait_for_timeout(1500)
    page.evaluate("() => { window.away = true; document.dispatchEvent(new Event('visibilitychange')); }")
    page.wait_for_timeout(500)
    questions.clear()
    page.wait_for_timeout(6000 / FASTER)
    assert not questions, "nobody looks at it"
    gone |= {"row-249", "row-120"}
    page.evaluate("() => { window.away = false; document.dispatchEvent(new Event('visibilitychange')); }")
    expect(page.locator("#many li")).to_have_count(NAMED - 2)

"""Everyone can use it: by screen reader, in the dark theme, by keyboard alone, without scripts, on a phone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from stack.short_runs import WalkPart
from tests.browser.axe import OF_COLOUR, faults, faults_everywhere
from tests.browser.conftest import Sit, declare, declare_by_hand
from tests.browser.walk import tab_to

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

A_LOOK_MS = 700  # someone who pressed a shortcut sees what it opened before they type
PAGES = ["/", "/?q=nothing-of-the-kind", "/declare", "/types/", "/types/security/", "/types/add"]
PAGES += [
    "/types/security/versions/1",
    "/oncall/",
    "/oncall/?q=nothing-of-the-kind",
    "/oncall/week/",
    "/oncall/week/?q=checkout",
    "/oncall/people/",
    "/oncall/rules/",
    "/oncall/rules/add",
]
PAGES += ["/insights/", "/insights/response", "/insights/interruptions", "/insights/evidence", "/insights/follow-ups"]
PAGES += ["/follow-ups", "/reviews"]
PAGES += ["/oncall/groups/", "/oncall/groups/add", "/none", "/sign-in/"]
OF_ONESELF = ["/account/", "/tokens/", "/people/roles", "/people/roles?q=a", "/audit/"]
OF_ONESELF += ["/access/", "/access/no-such", "/access/no-such?asked", "/access/no-such/now"]
OF_AN_INCIDENT = ["", "alerts", "pages", "retype", "retype?to=security", "progress"]
OF_AN_INCIDENT += ["resolve", "lead", "bring", "duplicate"]
# The distance of a page's first words from the start of its bar; a page with only a few words centres them.
STARTS = """() => {
    const first = [...document.querySelectorAll("main :is(h1, .crumbs, .start)")].find(one => one.checkVisibility()
        && one.getBoundingClientRect().width > 1 && !one.closest(".empty"))
    const brand = document.querySelector(".brand")
    const left = one => one.getBoundingClientRect().left
    return first && brand ? Math.round(left(first) - left(brand)) : 0
}"""


def gone_through_a_few_things(page: Page) -> str:
    """Declare an incident, post to it, wait until everything was done, and return its URL."""
    here = f"/incidents/{declare(page, 'Checkout is slow')}/"
    page.get_by_label("Update or note").fill("We look at payments. https://example.com/board")
    page.get_by_role("button", name="Post update").click()
    expect(page.locator("#newest")).to_contain_text("We look at payments")
    expect(page.locator("#progress")).to_contain_text("all done", timeout=60_000)
    return here


def test_axe_finds_nothing_on_any_page_none_is_wider_than_a_phone_and_all_begin_at_one_place(
    sit: Sit, part: WalkPart
) -> None:
    page = sit("Ada")
    here = gone_through_a_few_things(page)
    wrong = []
    for path in part.of((*PAGES, *OF_ONESELF, *(here + path for path in OF_AN_INCIDENT))):
        page.goto(path)
        wrong += [f"{path} begins {page.evaluate(STARTS)} px away"] if page.evaluate(STARTS) else []
        wrong += faults_everywhere(page)
    page.goto(here)
    page.get_by_role("link", name="Resolve").click()
    expect(page.get_by_role("dialog", name="Resolve")).to_be_visible()
    wrong += faults_everywhere(page)
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    wrong += faults_everywhere(page)
    page.goto(f"{here}resolve")
    page.locator("#act-now").click()
    expect(page.locator("main > .said")).to_be_visible()
    page.goto(f"{here}review")
    wrong += faults_everywhere(page)
    assert not wrong


def test_no_page_of_the_bar_is_cut_off_on_a_phone(sit: Sit) -> None:
    page = sit("Ada")
    page.goto("/")
    for width in (320, 360, 375, 390, 412, 430):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.locator(".bar nav").evaluate("nav => nav.scrollWidth - nav.clientWidth") <= 0, width


@pytest.mark.parametrize(("colour", "count"), [("#fff", 1), ("#eee", 1), ("#111", 0)])
def test_words_that_nobody_can_read_are_a_fault_even_where_axe_takes_them_for_hidden(
    page: Page, colour: str, count: int
) -> None:
    style = f"background: #fff; color: {colour}"
    page.set_content(f'<title>A</title><main><h1>A</h1><a href="/" style="{style}">Add a rule</a></main>')
    assert len(faults(page, OF_COLOUR)) == count


def test_an_incident_from_beginning_to_end_by_keyboard_alone(sit: Sit) -> None:
    page = sit("Ada")
    page.goto("/")
    press = page.keyboard.press
    press("d")
    page.wait_for_url("**/declare")
    page.wait_for_timeout(A_LOOK_MS)
    page.keyboard.type("Images are missing")
    press("Enter")
    page.wait_for_url("**/incidents/*/")
    press("u")
    page.keyboard.type("We look at the cache.")
    press("Control+Enter")
    expect(page.locator("#newest")).to_contain_text("We look at the cache.")
    expect(page.locator("#progress")).to_contain_text("all done", timeout=60_000)
    page.locator("#main").focus()
    press("r")
    page.wait_for_url("**/retype")
    tab_to(page, 'input[name="to"]')
    press("ArrowDown")
    expect(page.locator("#confirm")).to_be_visible()
    tab_to(page, "#confirm button")
    press("Enter")
    page.wait_for_url("**/incidents/*/")
    tab_to(page, 'a[href$="/resolve"]')
    press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.type("warmed the cache")
    press("Control+Enter")
    expect(page.locator("#head")).to_contain_text("Resolved")
    press("g")
    press("l")
    page.wait_for_url(lambda url: url.count("/") == 3)
    page.wait_for_load_state()
    press("j")
    expect(page.locator("[data-row]:focus")).to_have_count(1)
    press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()


def test_the_first_tab_skips_to_the_content(sit: Sit) -> None:
    page = sit("Ada")
    page.goto("/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_all_of_it_works_without_scripts(sit: Sit) -> None:
    page = sit("Ada", java_script_enabled=False)
    name = declare_by_hand(page, "Nothing loads")
    page.get_by_label("Update or note").fill("Looking.")
    page.get_by_role("button", name="Post update").click()
    expect(page.locator("#newest")).to_contain_text("Looking.")
    _until_settled(page, name)
    page.get_by_role("link", name="Retype", exact=True).first.click()
    page.get_by_role("radio", name="Isolated", exact=True).check()
    page.get_by_role("button", name="Show plan").click()
    expect(page.locator("#asked")).to_contain_text("@support")
    page.get_by_role("button", name="Retype to Isolated").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Isolated")
    page.goto(f"/incidents/{name}/bring")
    page.get_by_label("Find someone by name").fill("Hannah")
    page.get_by_role("button", name="Find").click()
    page.get_by_role("checkbox", name="Hannah").check()
    page.get_by_role("button", name="Bring in").click()
    expect(page.locator("#newest")).to_contain_text("brought in Hannah Weiss")


def _until_settled(page: Page, codename: str) -> None:
    """Reload by hand, as people without scripts do: while effects are finishing, plans change."""
    for _ in range(120):
        page.goto(f"/incidents/{codename}/progress")
        if page.get_by_text("all done").count():
            break
        page.wait_for_timeout(500)
    page.goto(f"/incidents/{codename}/")


def test_axe_finds_nothing_where_auditors_read(sit: Sit) -> None:
    page = sit("Marcus")
    for path in ("/audit/", "/audit/?who=nobody-of-the-kind", "/people/roles", "/types/security/"):
        page.goto(path)
        assert not faults(page)

"""Everybody can use it: by screen reader, in the dark, by keyboard alone, without scripts, on a phone."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.conftest import Sit, declare

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize

pytestmark = pytest.mark.browser

DESK: ViewportSize = {"width": 1280, "height": 720}
PHONE: ViewportSize = {"width": 390, "height": 844}
# Colours on their way to others are neither the ones before nor the ones after.
AT_REST = """async () => {
  for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
  await Promise.allSettled(document.getAnimations()
  .filter((one) => Number.isFinite(one.effect.getComputedTiming().endTime)).map((one) => one.finished));
}"""
PATIENCE_S = 10
OF_ONESELF = ["/account/", "/tokens/", "/people/roles", "/people/roles?q=a", "/audit/"]
OF_ONESELF += ["/access/", "/access/no-such", "/access/no-such?asked", "/access/no-such/now"]


@pytest.fixture
def codename(sit: Sit) -> str:
    """Declare an incident that has gone through a few things."""
    page = sit("Ada")
    name = declare(page, "Checkout is slow")
    page.get_by_label("Update or note").fill("We look at payments. https://example.com/board")
    page.get_by_role("button", name="Post update").click()
    expect(page.locator("#newest")).to_contain_text("We look at payments")
    expect(page.locator("#progress")).to_contain_text("all done", timeout=60_000)
    return name


def faults(page: Page, *, only: Sequence[str] = ()) -> list[str]:
    """Return what axe finds on a page, each with where; by some of its rules only, if they are named."""
    page.evaluate(AT_REST)
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    options = {"resultTypes": ["violations"], **({"runOnly": list(only)} if only else {})}
    found = page.evaluate("async (options) => (await axe.run(document, options)).violations", options)
    return [f"{one['id']}: {node['target']} {node.get('failureSummary', '')}" for one in found for node in one["nodes"]]


def faults_everywhere(page: Page) -> list[str]:
    """Return what axe finds on a page at a desk and on a phone, by day and at night, when colours alone change."""
    wrong = []
    for size in (DESK, PHONE):
        page.set_viewport_size(size)
        page.emulate_media(color_scheme="light")
        wrong += [f"at {size['width']}: {one}" for one in lasting(page)]
        page.emulate_media(color_scheme="dark")
        wrong += [f"dark, at {size['width']}: {one}" for one in lasting(page, only=["color-contrast"])]
    return wrong


def lasting(page: Page, *, only: Sequence[str] = ()) -> list[str]:
    """Return what axe still finds when a page has had time to take on other colours."""
    until = time.monotonic() + PATIENCE_S
    while (found := faults(page, only=only)) and time.monotonic() < until:
        page.wait_for_timeout(200)
    return found


def test_axe_finds_nothing_on_any_page(codename: str, sit: Sit) -> None:
    page = sit("Ada")
    here = f"/incidents/{codename}"
    verbs = ("resolve", "lead", "bring", "rename", "duplicate")
    paths = ["/", "/?q=nothing-of-the-kind", "/declare", "/types/", "/types/security/", "/types/add"]
    paths += ["/oncall/", "/oncall/people/", "/oncall/rules/", "/oncall/rules/add", f"{here}/alerts"]
    paths += ["/oncall/groups/", "/oncall/groups/add", f"{here}/pages"]
    paths += ["/types/security/versions/1", f"{here}/", f"{here}/retype", f"{here}/retype?to=security"]
    paths += [
        f"{here}/retype?to=major",
        f"{here}/progress",
        *(f"{here}/{verb}" for verb in verbs),
        *OF_ONESELF,
        "/none",
        "/sign-in/",
    ]
    wrong = []
    for path in paths:
        page.goto(path)
        page.wait_for_load_state("networkidle") if path == f"{here}/progress" else page.wait_for_timeout(250)
        wrong += [f"{path} {one}" for one in faults_everywhere(page)]
    assert not wrong


def test_axe_finds_nothing_in_dialogs(codename: str, sit: Sit) -> None:
    page = sit("Ada")
    page.goto(f"/incidents/{codename}/")
    page.get_by_role("link", name="Resolve").click()
    expect(page.get_by_role("dialog", name="Resolve")).to_be_visible()
    page.wait_for_timeout(300)
    assert not faults_everywhere(page)
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.wait_for_timeout(300)
    assert not faults_everywhere(page)


def test_an_incident_from_beginning_to_end_by_keyboard_alone(sit: Sit) -> None:
    page = sit("Ada")
    press = page.keyboard.press
    press("d")
    page.wait_for_url("**/declare")
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


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until an element has the focus, as those do who have no mouse."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"the keyboard never gets to {selector}")


def test_the_first_tab_skips_to_the_content(sit: Sit) -> None:
    page = sit("Ada")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_all_of_it_works_without_scripts(sit: Sit) -> None:
    page = sit("Ada", java_script_enabled=False)
    name = declare(page, "Nothing loads")
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
    """Reload by hand, as people without scripts do: while effects come to their end, plans change."""
    for _ in range(120):
        page.goto(f"/incidents/{codename}/progress")
        if page.get_by_text("all done").count():
            break
        page.wait_for_timeout(500)
    page.goto(f"/incidents/{codename}/")


def test_no_page_is_wider_than_a_phone(codename: str, sit: Sit) -> None:
    page = sit("Ada", viewport={"width": 360, "height": 740})
    here = f"/incidents/{codename}"
    for path in (
        "/",
        "/declare",
        f"{here}/",
        f"{here}/retype?to=security",
        "/types/",
        "/types/major/",
        "/oncall/rules/add",
        "/oncall/groups/add",
        f"{here}/bring",
        *OF_ONESELF,
    ):
        page.goto(path)
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, path


def test_axe_finds_nothing_where_auditors_read(sit: Sit) -> None:
    page = sit("Marcus")
    for path in ("/audit/", "/audit/?who=nobody-of-the-kind", "/people/roles", "/types/security/"):
        page.goto(path)
        assert not faults_everywhere(page), path
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), path

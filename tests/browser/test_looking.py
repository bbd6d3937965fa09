"""Navigation: the list and its URL, by keyboard and back again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Sit, declare

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


@pytest.fixture
def page(sit: Sit) -> Page:
    return sit("Ada")


def test_a_filtered_list_has_an_address_that_is_gone_back_to(page: Page) -> None:
    codename = declare(page, "The zymurgy vats overflow")
    page.goto("/")
    page.keyboard.press("/")
    page.keyboard.type("zymurgies")
    expect(page).to_have_url(re.compile(r"/\?q=zymurgies$"))
    expect(page.locator(f"#i-{codename} mark")).to_have_text("zymurgy")
    page.locator("#more-filters summary").click()
    page.get_by_label("Lead", exact=True).fill("nobody of that name")
    page.get_by_label("Lead", exact=True).press("Enter")
    expect(page.get_by_text("No matches.")).to_be_visible()
    page.go_back()
    expect(page.locator(f"#i-{codename}")).to_be_visible()
    expect(page.get_by_label("Lead", exact=True)).to_have_value("")
    page.get_by_text("Save this view").click()
    page.get_by_label("Name (only you see it)").fill("Vats")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Saved as Vats.")).to_be_visible()
    page.goto("/")
    page.get_by_role("link", name="Vats", exact=True).click()
    expect(page).to_have_url(re.compile(r"/\?q=zymurgies$"))
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"/incidents/{codename}/$"))


def test_an_entry_is_found_by_its_link_wherever_it_stands(page: Page) -> None:
    codename = declare(page, "The lautering pump stalls")
    for n in range(45):
        write_note(page, codename, f"Note number {n}")
    page.goto(f"/incidents/{codename}/")
    expect(page.locator("#newest")).to_contain_text("Note number 44")
    page.goto(f"/incidents/{codename}/#e1")
    page.reload()
    expect(page.locator("#sifted #e1")).to_be_in_viewport()
    page.get_by_role("link", name="Back to the latest").click()
    expect(page.locator("#newest")).to_contain_text("Note number 44")
    page.get_by_text("Filter, or jump to a time").click()
    page.get_by_label("Words").fill("number 7")
    expect(page.locator("#sifted")).to_contain_text("Note number 7")
    expect(page.locator("#newest")).to_be_hidden()


def write_note(page: Page, codename: str, text: str, *, kind: str = "note") -> None:
    """Add a note, or an update, as the person who sits there, through the form without filling it in."""
    token = next(one.get("value") for one in page.context.cookies() if one.get("name") == "csrftoken")
    form: dict[str, str | float | bool] = {"csrfmiddlewaretoken": token or "", "text": text, "kind": kind}
    answer = page.request.post(f"/incidents/{codename}/write", form=form, max_redirects=0)
    assert answer.ok or answer.status == 302, answer.text()


# What people paste where words are expected: a URL, a key, a log line.
PASTED = f"https://logs.example.com/{'0a1b2c3d4e5f' * 14}"


def test_one_long_word_widens_no_page(page: Page) -> None:
    codename = declare(page, PASTED)
    write_note(page, codename, PASTED, kind="update")
    for what in ("impact", "next-step", "summary"):
        page.goto(f"/incidents/{codename}/{what}")
        page.locator("main form").locator("textarea, input[type=text]").first.fill(PASTED)
        page.locator("main form .main").click()
        page.wait_for_url(f"**/incidents/{codename}/")
    for width in (390, 640, 1280):
        page.set_viewport_size({"width": width, "height": 844})
        for path in ("", "retype", "evidence/"):
            page.goto(f"/incidents/{codename}/{path}")
            expect(page.get_by_text(PASTED).first).to_be_attached()
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (path, width)


# The rows that are entirely on the screen, and the targets above them that a thumb would miss.
ON_SCREEN = """() => {
    const box = one => one.getBoundingClientRect()
    const rows = [...document.querySelectorAll(".row")].filter(one => box(one).bottom <= innerHeight)
    const taps = [...document.querySelectorAll("#incidents :is(.open-now a, .filters a, .filters summary, #q)")]
    const small = taps.filter(one => one.checkVisibility() && (box(one).height < 44 || box(one).width < 44))
    return [rows.length, small.map(one => one.outerHTML)]
}"""


def test_a_phone_shows_four_incidents_at_once_and_all_that_a_row_must_say(sit: Sit) -> None:
    page = sit("Ada", viewport={"width": 390, "height": 844})
    named = [declare(page, f"Hydrometer {n} reads nothing", type="Major") for n in range(5)]
    for codename in named:
        write_note(page, codename, "Calibrated it again with water at twenty degrees", kind="update")
    page.goto("/")
    page.reload()  # without the announcements of each update
    rows, small = page.evaluate(ON_SCREEN)
    assert rows >= 4
    assert not small
    for row in page.locator(".row").all()[:4]:
        for said in (".word", ".title", ".newest .words", ".newest .soft", ".lead", ".age"):
            expect(row.locator(said)).to_be_visible()
    page.goto("/?type=major&q=hydrometer")
    expect(page.locator(".kinds [aria-current]")).to_be_in_viewport()


def test_the_list_is_as_wide_as_the_screen_however_much_an_update_says(sit: Sit) -> None:
    page = sit("Ada")
    write_note(page, declare(page, "The refractometer is dry"), "It says nothing at all, " * 20, kind="update")
    page.goto("/")
    for width in (320, 390, 640, 700, 960, 1280):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_where_to_start_is_one_tap_away_on_a_phone_and_there_at_a_desk(sit: Sit) -> None:
    page = sit("Ada", viewport={"width": 390, "height": 844})
    page.goto("/")
    first = page.locator(".start li").first
    expect(first).to_be_hidden()
    page.get_by_role("link", name="Show where to start").click()
    expect(first).to_be_visible()
    page.set_viewport_size({"width": 1280, "height": 844})
    page.goto("/")
    expect(first).to_be_visible()


def test_who_is_on_call_for_a_service_is_typed(page: Page) -> None:
    page.goto("/oncall/")
    names = page.locator(".things .name")
    before = names.count()
    page.keyboard.press("/")
    expect(page.get_by_label("Search who is on call")).to_be_focused()
    page.keyboard.type("chekout")
    expect(page.get_by_text("No matches.")).to_be_visible()
    page.get_by_role("link", name="checkout-api").click()
    expect(page).to_have_url(re.compile(r"/oncall/\?q=checkout-api$"))
    expect(names).to_have_count(1)
    expect(page.locator(".things .says")).to_contain_text("Paged by checkout-api")
    page.get_by_label("Search who is on call").fill("payments")
    expect(page).to_have_url(re.compile(r"/oncall/\?q=payments$"))
    page.get_by_label("On-call", exact=True).get_by_role("link", name="Week").click()
    expect(page).to_have_url(re.compile(r"/oncall/week/\?q=payments$"))
    expect(page.locator(".week tbody")).to_contain_text("Paged by payments")
    page.get_by_role("link", name="Show all", exact=True).click()
    expect(page.get_by_label("Search who is on call")).to_have_value("")
    page.get_by_label("On-call", exact=True).get_by_role("link", name="Now").click()
    expect(names).to_have_count(before)


def test_a_thumb_reaches_confirm_from_where_the_plan_begins(sit: Sit) -> None:
    page = sit("Ada", viewport={"width": 390, "height": 760})
    codename = declare(page, "The kettle sings")
    page.goto(f"/incidents/{codename}/retype?to=security")
    page.locator("#plan-title").scroll_into_view_if_needed()
    expect(page.get_by_role("button", name="Retype to Security")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_every_incident_and_every_verb_is_a_few_keys_away(page: Page) -> None:
    codename = declare(page, "The mash tun foams over")
    page.goto("/types/")
    page.keyboard.press("Control+k")
    jump = page.get_by_role("combobox", name="Jump to an incident or an action")
    expect(jump).to_be_focused()
    page.keyboard.type("mash tu")
    option = page.get_by_role("listbox", name="Results").get_by_role("option")
    expect(option).to_have_count(1)
    expect(option).to_have_accessible_name(re.compile("The mash tun foams over"))
    assert jump.get_attribute("aria-activedescendant") == option.get_attribute("id")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"/incidents/{codename}/$"))
    offered = page.locator("#head [id^=do-]").evaluate_all("nodes => nodes.map((one) => one.textContent.trim())")
    page.keyboard.press("Control+k")
    expect(option.filter(has_text="On-call").first).to_be_attached()
    listed = option.locator("span").all_inner_texts()
    assert set(offered) <= set(listed)
    page.keyboard.type("resol")
    expect(option.first).to_contain_text("Resolve")
    page.keyboard.press("Escape")
    expect(jump).to_be_hidden()
    page.keyboard.press("Control+k")
    page.keyboard.type("resol")
    expect(option.first).to_contain_text("Resolve")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Resolve")).to_be_visible()

"""Choices and text that were not sent: they survive a reload, and nothing else acts on them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Sit, codename_of, declare, declare_by_hand

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = pytest.mark.browser
WORDS = "The pool is empty,\nand we know why."


def written(page: Page) -> dict[str, str]:
    """Return the text of every field with a draft, by id."""
    found: dict[str, str] = page.eval_on_selector_all(
        "[data-draft]", "all => Object.fromEntries(all.map(one => [one.id, one.value]))"
    )
    return found


def unfold(page: Page) -> None:
    """Open everything that can be opened."""
    page.evaluate("() => { for (const one of document.querySelectorAll('main details')) one.open = true; }")


def type_everywhere(page: Page) -> dict[str, str]:
    """Write into every field with a draft, and return what was written."""
    unfold(page)
    for id in written(page):
        page.locator(f"#{id}").fill(f"{WORDS} {id}")
    return written(page)


def test_what_was_begun_in_a_dialog_outlives_escape_until_it_is_sent_or_cancelled(sit: Sit) -> None:
    page = sit("Ada")
    codename = declare(page, "Tokens in a public bucket")
    page.locator("#text").fill("Seen.")
    page.locator("#keep-note").click()
    expect(page.locator("#newest")).to_contain_text("Seen.")
    text = page.locator("#dialog").locator("textarea, input[type=text]").first
    openers = ("#add-followup", "#add-task", "#do-resolve", "#do-rename", "#do-summary", "[id^='edit-']")
    for opener in openers:
        begin(page, opener)
        text.fill(f"{WORDS} {opener}".replace("\n", " "))
        page.keyboard.press("Escape")
        expect(page.locator("dialog[open]")).to_have_count(0)
    for opener in openers:
        begin(page, opener)
        expect(text).to_have_value(f"{WORDS} {opener}".replace("\n", " "))
        page.locator("#dialog [data-close]").first.click()
        begin(page, opener)
        expect(text).not_to_have_value(f"{WORDS} {opener}".replace("\n", " "))
        page.keyboard.press("Escape")
    begin(page, "#add-followup")
    text.fill("Buy a lock")
    page.locator("#act-now").click()
    expect(page.locator("#tasks")).to_contain_text("Buy a lock")
    begin(page, "#add-followup")
    expect(text).to_have_value("")
    assert codename in page.url


def test_a_dialog_that_is_opened_as_another_closes_keeps_what_it_says(sit: Sit) -> None:
    page = sit("Ada")
    declare(page, "Two at once")
    begin(page, "#add-task")
    page.evaluate("""() => {
        const dialog = document.getElementById("dialog"), kept = [...dialog.childNodes];
        dialog.close();  // which is told after what follows
        dialog.replaceChildren(...kept);
        dialog.showModal();
        return new Promise((done) => setTimeout(done, 100));
    }""")
    expect(page.locator("#dialog[open]").locator("textarea, input[type=text]").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#dialog")).to_be_empty()


def begin(page: Page, opener: str) -> None:
    """Open a dialog, through a menu if its opener is in one."""
    page.locator(opener).first.evaluate("one => one.click()")
    expect(page.locator("#dialog[open]")).to_be_visible()


def bye(route: Route) -> None:
    """Respond instead of the server."""
    route.fulfill(body="Bye")


def test_the_choice_of_a_retype_is_kept_by_its_address_and_its_reason_by_the_tab(sit: Sit) -> None:
    page = sit("Ada")
    codename = declare(page, "Tokens in a public bucket")
    page.goto(f"/incidents/{codename}/bring")
    page.locator("#act [type=checkbox], #act [type=radio]").first.check()
    page.locator("#act-now").click()
    page.goto(f"/incidents/{codename}/retype")
    page.get_by_role("radio", name="Security").check()
    page.locator("#because").fill(WORDS)
    someone = page.locator("[name=bring][type=checkbox]").first
    counted = page.locator("#counted")
    expect(counted).to_contain_text(re.compile(r"posted\s+in|Couldn't count"))
    says = counted.inner_text()
    for choice, asked in ((someone, "bring="), (page.locator("#stay-out"), "stay_out=1")):
        choice.check()
        expect(page).to_have_url(re.compile(asked))
        expect(counted).to_have_text(says)  # stays counted, whatever is chosen
        expect(page.locator("#asked.htmx-request, #asked .htmx-request")).to_have_count(0)
    plan = page.locator("#asked .sum").inner_text()
    for again in ("reload", "open"):
        page.reload() if again == "reload" else page.goto(page.url)
        expect(someone).to_be_checked()
        expect(page.locator("#stay-out")).to_be_checked()
        expect(page.locator("#because")).to_have_value(WORDS)
        expect(page.locator("#asked .sum")).to_have_text(plan)
    page.get_by_role("radio", name="Major").check()
    expect(page.locator("[name=bring]")).to_have_count(0)


def test_who_is_picked_in_a_hurry_is_not_left_behind(sit: Sit) -> None:
    page = sit("Ada")
    codename = declare(page, "Tokens in a public bucket")
    page.goto(f"/incidents/{codename}/bring")
    page.locator("#act [type=checkbox], #act [type=radio]").first.check()
    page.locator("#act-now").click()
    page.goto(f"/incidents/{codename}/retype?to=security")
    page.route(re.compile("bring="), lambda route: None)  # the plan with them never arrives
    someone = page.locator("[name=bring]").first
    someone.check()
    page.get_by_role("button", name="Retype to Security").click()
    expect(page.get_by_role("alert")).to_contain_text("after you opened this page. Nothing was done.")
    expect(someone).to_be_checked()


def test_what_is_written_and_not_sent_outlives_a_reload_until_it_is_sent_or_its_author_signs_out(sit: Sit) -> None:
    page = sit("Ada")
    codename = declare(page, "Checkout is slow")
    here = f"/incidents/{codename}/"
    wrote = type_everywhere(page)
    assert {"text", "impact", "next_step"} <= wrote.keys()
    page.reload()
    assert written(page) == wrote
    other = declare(page, "Something else")
    assert not any(written(page).values()), "of another incident"
    page.goto(here)
    assert written(page) == wrote
    page.locator("#keep-note").click()
    expect(page.locator("#text")).to_have_value("")
    page.reload()
    assert not any(written(page).values()), "sent"

    page.goto(f"/incidents/{other}/resolve")
    page.locator("#act-now").click()
    page.goto(f"/incidents/{other}/review")
    wrote = type_everywhere(page)
    assert len(wrote) > 4
    page.reload()
    assert written(page) == wrote
    expect(page.locator("[data-draft]").first).to_be_visible()
    first = next(iter(wrote))
    with page.expect_navigation():  # until it is loaded, no one knows that it was taken
        page.locator(f"#{first}").locator("xpath=ancestor::form").locator("button").first.click()
    page.goto(f"/incidents/{other}/review")
    assert written(page) == wrote  # the one is saved, all others are kept
    assert not page.evaluate(f"Object.keys(sessionStorage).filter(one => one.endsWith(' {first}')).length")
    page.route("**/sign-out/", bye)  # others use the same session
    page.locator(".who > summary").click()
    page.get_by_role("button", name="Sign out").click()
    assert not page.evaluate("Object.keys(sessionStorage).filter(one => one.startsWith('draft')).length")


def test_letters_act_on_nothing_while_a_dialog_is_asked_for_or_open(sit: Sit) -> None:
    page = sit("Ada")
    declare(page, "Checkout is slow")
    here = page.url
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(re.compile("/lead$"), hold)
    keys = page.eval_on_selector_all("[data-key]", "all => all.map(one => one.dataset.key)")
    assert {"r", "d", "t", "u"} <= set(keys)
    asked = page.locator("#nobody-leads")
    asked.click()
    for stroke in ("?", "/", "j", *keys):
        for letter in stroke.split():
            page.keyboard.press(letter)
        assert page.url == here
        assert not page.locator("dialog[open]").count()
        assert page.evaluate("document.activeElement.matches('textarea, input')") is False
    held[0].continue_()
    expect(page.locator("#dialog[open]")).to_be_visible()
    page.locator("#dialog h2").first.click()
    for letter in ("r", "d", "?", "t"):
        page.keyboard.press(letter)
    assert page.url == here
    assert page.locator("dialog[open]").count() == 1
    page.keyboard.press("Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)
    page.keyboard.press("r")
    page.wait_for_url("**/retype")


def test_going_back_and_declaring_again_leads_to_what_was_declared(sit: Sit) -> None:
    page = sit("Ada")
    name = declare_by_hand(page, "Declared and gone back to")
    page.go_back()
    expect(page.get_by_label("What is wrong?")).to_have_value("Declared and gone back to")
    page.get_by_role("button", name="Declare").click()
    page.wait_for_url("**/incidents/*/")
    assert codename_of(page) == name
    expect(page.locator("main > .said")).to_contain_text("You already declared this")

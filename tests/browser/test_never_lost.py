"""What someone typed and sent is never lost: not if their session had ended, nor if no one responded."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Sit, declare

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = pytest.mark.browser
HERE = "/incidents/{}/"
SOON_MS = 5_000
WORDS = "The pool is empty, and we know why"


@dataclass(frozen=True, slots=True)
class Form:
    """One form: its URL, the field to write into, the button that sends it, and what opens it."""

    path: str
    field: str
    button: str
    opener: str = ""


# Those that htmx sends, and those that load another page.
FRAGMENTS = (
    Form(HERE, "#text", "#post-update"),
    Form(HERE, "#text", "#keep-note"),
    Form(HERE, "#dialog textarea", "#act-now", opener="#do-summary"),
    Form(f"{HERE}pages", "#page-form [name=because]", "#page-look"),
)
PAGES = (
    Form(f"{HERE}mitigate", "#act textarea", "#act-now"),
    Form(f"{HERE}retype?to=major", "#because", "#confirm [data-first]"),
    Form(f"{HERE}findings/", "#id_claim", ".claiming .main"),
    Form("/declare", "#id_title", ".confirming [data-first]"),
    Form("/access/some-such", "main textarea", "main form .main"),
    Form("/oncall/rules/add", "main form [name=name]", "main form .main"),
    Form("/types/add", "#id_name", "main form .main"),
    Form("/tokens/", "main form [type=text]", "main form .main"),
)


def write(page: Page, form: Form, words: str) -> None:
    """Open a form and write into it."""
    if form.opener:
        page.locator(form.opener).first.evaluate("one => one.click()")
    page.locator(form.field).first.fill(words)


def is_kept(page: Page, form: Form, words: str) -> bool:
    """Return whether the text is in the form, opened again if it was in a dialog."""
    if form.opener:
        page.locator(form.opener).first.evaluate("one => one.click()")
        expect(page.locator(form.field)).to_be_visible()
    return page.locator(form.field).first.input_value(timeout=SOON_MS) == words


def session_ended(page: Page, send: Callable[[], None]) -> None:
    """Send as someone whose session has ended, who then signs in again."""
    page.context.clear_cookies(name=re.compile("session"))
    send()
    page.wait_for_url("**/sign-in/**")
    expect(page.get_by_text("What you typed is kept in this tab")).to_be_visible()
    page.get_by_role("button", name="Ada Okafor").click()
    page.wait_for_url(lambda url: "/sign-in/" not in url)


def away(page: Page, send: Callable[[], None]) -> None:
    """Send while the server is down, and open the page again."""
    here = page.url
    page.route("**", fail)
    send()
    page.wait_for_url("chrome-error://**")
    page.unroute("**")
    page.goto(here)


def refused(page: Page, send: Callable[[], None]) -> None:
    """Send from a page whose cookie is gone, which is refused; open it again."""
    here = page.url
    page.context.clear_cookies(name=re.compile("csrf"))
    send()
    expect(page.get_by_role("heading", name="Please try again.")).to_be_visible()
    page.goto(here)


def fail(route: Route) -> None:
    """Let a request fail without a response."""
    route.abort() if route.request.method == "POST" else route.continue_()


@pytest.mark.parametrize(
    ("happens", "forms"), [(session_ended, (*FRAGMENTS, *PAGES)), (away, PAGES), (refused, PAGES[2:4])]
)
def test_what_was_sent_and_not_taken_stands_in_its_form_again(
    sit: Sit, happens: Callable[[Page, Callable[[], None]], None], forms: tuple[Form, ...]
) -> None:
    page = sit("Ada")
    codename = declare(page, "The pump coughs")
    expect(page.locator("#progress")).to_contain_text("all done", timeout=60_000)
    lost = []
    for n, form in enumerate(forms):
        path, words = form.path.format(codename), f"{WORDS} {n}"
        page.goto(path)
        write(page, form, words)
        happens(page, page.locator(form.button).first.click)
        if not (page.url.endswith(path) and is_kept(page, form, words)):
            lost.append((form, page.url))
    assert not lost


def test_what_was_chosen_comes_back_with_what_was_typed_and_is_sent_once(sit: Sit) -> None:
    page = sit("Ada")
    page.goto("/declare")
    page.get_by_label("What is wrong?").fill("Tokens of the pump leaked")
    page.get_by_role("radio", name="Security").check()
    session_ended(page, page.get_by_role("button", name="Declare").click)
    expect(page.get_by_role("radio", name="Security")).to_be_checked()
    expect(page.locator(".confirming")).to_contain_text("Security")
    page.get_by_role("button", name="Declare").click()
    page.wait_for_url("**/incidents/*/")
    expect(page.locator("#head")).to_contain_text("Security")
    page.goto("/declare")
    expect(page.get_by_label("What is wrong?")).to_have_value("")
    page.get_by_label("What is wrong?").fill("Half a title")
    page.goto("/declare")
    expect(page.get_by_label("What is wrong?")).to_have_value("")  # it was not sent; a new visit starts fresh


def test_rows_that_were_added_or_removed_come_back_as_they_were(sit: Sit) -> None:
    page = sit("Ada")
    page.goto("/types/security/")
    roles = page.locator("[data-rows=role] ol input[name='one_of.role']")
    there = [one.input_value() for one in roles.all()]
    assert there, "one of platform leadership"
    page.get_by_role("button", name="Remove this role").first.click()
    for name in ("Scribe", "Liaison"):
        page.get_by_role("button", name="Add a role").click()
        roles.last.fill(name)
    page.get_by_role("button", name="Add a profile").click()
    page.locator("[data-rows=profile] ol input[name='captures.source']").last.fill("shop")
    page.get_by_label("Description").fill("Something leaked")
    session_ended(page, page.locator("main form .main").first.click)
    assert [one.input_value() for one in roles.all()] == [*there[1:], "Scribe", "Liaison"]
    expect(page.locator("[data-rows=profile] ol input[name='captures.source']")).to_have_value("shop")


def test_a_type_is_moved_by_keyboard_as_far_as_it_goes(sit: Sit) -> None:
    page = sit("Ada")
    page.goto("/types/")
    order = page.locator("#types > li")
    slugs = [one.get_attribute("id") or "" for one in order.all()]
    up = page.locator(f"#{slugs[2]} [id^=up-]")
    up.focus()
    for at in (1, 0):
        page.keyboard.press("Enter")
        expect(order.nth(at)).to_have_id(slugs[2])
        expect(up if at else page.locator(f"#{slugs[2]}").get_by_role("link", name="Edit")).to_be_focused()
    down = page.locator(f"#{slugs[2]} [id^=down-]")
    down.focus()
    for at in (1, 2):
        page.keyboard.press("Enter")
        expect(order.nth(at)).to_have_id(slugs[2])
        expect(down).to_be_focused()
    page.reload()
    assert [one.get_attribute("id") for one in order.all()] == slugs


def test_what_nobody_answered_is_said_and_says_what_to_do(sit: Sit) -> None:
    page = sit("Ada")
    declare(page, "The pump coughs")
    for answer, says in (("none", "may have arrived"), ("late", "may have arrived"), ("offline", "Nothing was sent")):
        page.locator("#text").fill(f"{WORDS} {answer}")
        page.evaluate(f"htmx.config.timeout = {300 if answer == 'late' else 20_000}")
        page.evaluate("document.getElementById('toast').textContent = ''")
        page.route("**/write", hold if answer == "late" else fail)
        page.context.set_offline(answer == "offline")
        page.wait_for_function(f"navigator.onLine === {'false' if answer == 'offline' else 'true'}")
        page.locator("#keep-note").click()
        expect(page.locator("#toast")).to_contain_text(says)
        expect(page.locator("#text")).to_have_value(f"{WORDS} {answer}")
        page.unroute("**/write")
    page.context.set_offline(False)
    page.locator("#keep-note").dblclick()
    expect(page.locator("main .event").filter(has_text=f"{WORDS} offline")).to_have_count(1)
    expect(page.locator("#text")).to_have_value("")
    page.reload()
    expect(page.locator("main .event").filter(has_text=WORDS)).to_have_count(1)


def hold(route: Route) -> None:
    """Never respond."""

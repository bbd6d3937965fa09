"""Typing where nothing accepts it does nothing: no shortcut opens a form in the middle of a sentence."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.axe import PHONE
from tests.browser.conftest import Sit, declare

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

SENTENCES = ("restarted redis", "deploy p95 team going low")
PACES_MS = (0, 250)
AT_REST_MS = 1_200
# However long the browser takes: for the page, no time passes between the keys.
AS_IF_AT_ONCE = "Date.now = () => 1_700_000_000_000"


@pytest.fixture
def sent(page: Page) -> list[str]:
    """Record the forms that the page sends."""
    posted: list[str] = []
    page.on("request", lambda asked: posted.append(asked.url) if asked.method == "POST" else None)
    return posted


@pytest.fixture
def page(sit: Sit) -> Page:
    return sit("Ada")


@pytest.mark.parametrize("path", ["", "evidence/", "review", "/", "/declare"])
def test_a_sentence_and_enter_do_nothing(page: Page, sent: list[str], path: str) -> None:
    name = declare(page, "The kiln cools down")
    page.goto(path if path.startswith("/") else f"/incidents/{name}/{path}")
    for sentence, pace in zip(SENTENCES, PACES_MS, strict=True):
        page.evaluate("document.activeElement.blur()")
        here = page.url
        page.keyboard.type(sentence, delay=pace)
        page.keyboard.press("Enter")
        page.wait_for_timeout(AT_REST_MS)
        assert page.url == here, sentence
        expect(page.locator("dialog[open]")).to_have_count(0)
    assert not sent


def test_nor_where_a_button_has_the_focus(page: Page, sent: list[str]) -> None:
    name = declare(page, "The kiln cools down")
    for path, control in (("", "#do-retype"), ("", "#post-update"), ("retype", '[name="to"]:not(:disabled)')):
        page.goto(f"/incidents/{name}/{path}")
        page.locator(control).first.focus()
        here = page.url
        page.keyboard.type("restarted redis")
        page.keyboard.press("Enter")
        page.wait_for_timeout(AT_REST_MS)
        assert page.url == here, control
    assert not sent


def test_what_follows_a_shortcut_without_a_rest_is_not_sent(page: Page, sent: list[str]) -> None:
    declare(page, "The kiln cools down")
    page.evaluate("document.activeElement.blur()")
    page.add_init_script(AS_IF_AT_ONCE)
    page.evaluate(AS_IF_AT_ONCE)
    page.keyboard.press("d")
    field = page.get_by_label("What is wrong?")
    expect(field).to_be_focused()
    page.keyboard.type("redis")
    page.keyboard.press("Enter")
    page.wait_for_timeout(AT_REST_MS)
    expect(field).to_have_value("redis")
    assert not sent


def test_a_field_that_is_opened_to_write_in_has_the_focus(page: Page) -> None:
    name = declare(page, "The kiln cools down")
    page.goto(f"/incidents/{name}/resolve")
    page.locator("#act-now").click()
    page.goto(f"/incidents/{name}/review")
    for opener in ("Write", "Comment"):
        page.locator("summary:visible").filter(has_text=re.compile(rf"^\s*{opener}")).first.click()
        page.keyboard.type("Nobody knew who owns it.")
        expect(page.locator("textarea:focus")).to_have_value("Nobody knew who owns it.")


def test_a_dialog_that_asks_for_words_begins_where_they_are_written(sit: Sit) -> None:
    page = sit("Ada", viewport=PHONE)
    declare(page, "The kiln cools down")
    for opener in ("#add-task", "#add-followup", "#do-summary", "#do-rename", "#do-impact", "#do-next-step"):
        page.locator(opener).first.evaluate("one => one.click()")
        field = page.locator("#dialog").locator("textarea, input[type=text]").first
        expect(field).to_be_focused()
        expect(field).to_be_in_viewport(ratio=1)
        page.keyboard.press("Escape")
        expect(page.locator("dialog[open]")).to_have_count(0)


@pytest.mark.parametrize(
    ("keys", "leads"),
    [("d", "/declare$"), ("r", "/retype$"), ("gl", r":\d+/$"), ("gt", "/types/$"), ("e", "/evidence/$")],
)
def test_shortcuts_alone_still_work(page: Page, keys: str, leads: str) -> None:
    declare(page, "The kiln cools down")
    page.evaluate("document.activeElement.blur()")
    for key in keys:
        page.keyboard.press(key)
    expect(page).to_have_url(re.compile(leads))


def test_what_is_typed_after_a_shortcut_is_sent_by_enter(page: Page) -> None:
    page.goto("/types/")
    page.keyboard.press("d")
    page.wait_for_url("**/declare")
    page.wait_for_timeout(AT_REST_MS)
    page.keyboard.type("The kiln explodes")
    page.keyboard.press("Enter")
    page.wait_for_url("**/incidents/*/")


def test_a_retype_is_a_few_keys(page: Page) -> None:
    declare(page, "The kiln cools down")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("r")
    page.wait_for_url("**/retype")
    expect(page.locator("[name=to]:focus")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    chosen = page.locator("[name=to]:checked")
    expect(page.locator("#confirm")).to_be_visible()
    expect(chosen).to_be_focused()
    name = chosen.get_attribute("value") or ""
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    expect(page.locator("#confirm [data-first]")).to_be_focused()
    assert page.url.partition("?")[0].endswith("/retype")
    expect(page.locator(f"#confirm [name=to][value={name}]")).to_be_attached()
    page.wait_for_timeout(AT_REST_MS)
    page.keyboard.press("Enter")
    page.wait_for_url("**/incidents/*/")

"""What someone was typing when an incident closed to them is theirs: they get it back, only they, and nothing else."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Sit, declare
from tests.browser.test_closing_pages import retype_to_private

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page, Route

pytestmark = pytest.mark.browser

TITLE = "The daguerreotype fades"
UPDATE, IMPACT, TASK, REASON, CLAIM = (
    f"{word} that nobody else has read" for word in ("News", "Harm", "A thing to do", "A cause", "A guess")
)


def given_back(page: Page) -> Locator:
    return page.get_by_role("region", name="What you had typed").get_by_role("textbox")


def words(page: Page) -> list[str]:
    """Return what is given back, once it is."""
    expect(page.get_by_role("heading", name="Page not found.")).to_be_visible()
    expect(given_back(page).first).to_be_visible()
    return sorted(given_back(page).evaluate_all("all => all.map(one => one.value)"))


def write(page: Page, path: str, **given: str) -> None:
    page.goto(path)
    page.evaluate("() => { for (const one of document.querySelectorAll('main details')) one.open = true; }")
    for field, text in given.items():
        page.locator(f"#{field}").fill(text)


def settled(page: Page, here: str) -> None:
    """Wait until nothing is under way, because that could change a plan between showing and confirming."""
    page.goto(here)
    expect(page.locator("#progress")).to_contain_text("all done", timeout=60_000)


def test_half_typed_words_are_given_back_and_nothing_of_the_incident(sit: Sit) -> None:
    ada, left = sit("Ada"), sit("Marcus")
    codename = declare(ada, TITLE)
    here = f"/incidents/{codename}/"
    write(left, here, text=UPDATE, impact=IMPACT)
    left.locator("#do-rename").evaluate("one => one.click()")
    title = left.locator("#dialog input[type=text]")
    expect(title).to_have_value(TITLE)
    title.fill(f"{TITLE} for good")  # words of the incident
    left.keyboard.press("Escape")
    left.locator("#add-task").evaluate("one => one.click()")
    left.locator("#dialog").locator("textarea, input[type=text]").first.fill(TASK)
    pages = {"": [UPDATE, IMPACT, TASK], "retype?to=major": [REASON], "findings/": [CLAIM]}
    tabs = {"": left} | {path: left.context.new_page() for path in list(pages)[1:]}
    write(tabs["retype?to=major"], f"{here}retype?to=major", because=REASON)
    write(tabs["findings/"], f"{here}findings/", id_claim=CLAIM)
    sent: list[str] = []
    for tab in tabs.values():
        tab.on("request", lambda request: sent.append(f"{request.url} {request.post_data or ''} {request.headers}"))
    retype_to_private(ada, here)
    for path, tab in tabs.items():
        assert words(tab) == sorted(pages[path])
        shown = tab.locator("body").inner_text() + tab.title() + "".join(words(tab))
        assert TITLE not in tab.content()
        assert codename not in shown + tab.locator("body").inner_html()
    assert not any("nobody" in one for one in sent), "they are sent nowhere"
    left.reload()
    assert words(left) == sorted(pages[""]), "a reload is no leaving"
    left.get_by_role("button", name="Copy").first.click()
    expect(left.get_by_role("status")).to_have_text(re.compile("Copied|selected"))
    left.goto("/")
    assert "nobody" not in left.evaluate("JSON.stringify(sessionStorage)")
    left.go_back()
    expect(left.get_by_role("heading", name="Page not found.")).to_be_visible()
    expect(given_back(left)).to_have_count(0)


def test_words_that_were_sent_too_late_are_given_back(sit: Sit) -> None:
    ada, left = sit("Ada"), sit("Marcus")
    codename = declare(ada, TITLE)
    left.route("**/closings/stream*", lambda route: route.abort())
    write(left, f"/incidents/{codename}/retype?to=major", because=REASON)
    retype_to_private(ada, f"/incidents/{codename}/")
    left.locator("#confirm [data-first]").click()
    assert words(left) == [REASON]


def test_words_that_were_taken_are_not_given_back(sit: Sit) -> None:
    ada, left = sit("Ada"), sit("Marcus")
    codename = declare(ada, TITLE)
    write(left, f"/incidents/{codename}/retype?to=major", because=REASON)
    left.locator("#confirm [data-first]").click()
    left.wait_for_url(f"**/{codename}/")
    settled(ada, f"/incidents/{codename}/")
    retype_to_private(ada, f"/incidents/{codename}/")
    expect(left.get_by_role("heading", name="Page not found.")).to_be_visible()
    expect(given_back(left)).to_have_count(0)


def test_words_are_given_to_their_author_alone_and_until_they_sign_out(sit: Sit) -> None:
    ada, left = sit("Ada"), sit("Marcus")
    codename, other = declare(ada, TITLE), "quiet-absent-heron"
    here = f"/incidents/{codename}/"
    write(left, here, text=UPDATE)
    me = left.evaluate("document.body.dataset.me")
    kept = json.dumps({"text": "of somebody else", "own": True})
    left.evaluate(f"sessionStorage.setItem('draft 0{me} {codename} text', {kept!r})")
    left.evaluate(f"sessionStorage.setItem('draft {me} {codename}-{codename} text', {kept!r})")
    retype_to_private(ada, here)
    assert words(left) == [UPDATE]
    elsewhere = left.context.new_page()
    elsewhere.goto("/")
    elsewhere.route("**/sign-out/", bye)  # others use the same session
    elsewhere.locator(".who > summary").click()
    elsewhere.get_by_role("button", name="Sign out").click()
    expect(given_back(left)).to_have_count(0)
    assert UPDATE not in left.evaluate("JSON.stringify(sessionStorage)") + left.content()
    elsewhere.goto(f"/incidents/{other}/")
    expect(elsewhere.get_by_role("heading", name="Page not found.")).to_be_visible()
    expect(given_back(elsewhere)).to_have_count(0)


def test_words_that_a_form_refused_are_given_back_as_they_were_mended(sit: Sit) -> None:
    ada, left = sit("Ada"), sit("Marcus")
    codename = declare(ada, TITLE)
    here = f"/incidents/{codename}/"
    write(left, f"{here}retype?to=major", because="A first")
    ada.goto(f"{here}retype?to=internal")
    ada.locator("#confirm [data-first]").click()
    ada.wait_for_url(f"**{here}")
    left.locator("#confirm [data-first]").click()
    expect(left.get_by_role("alert")).to_contain_text("Nothing was done")
    left.locator("#because").fill(REASON)
    settled(ada, here)
    retype_to_private(ada, here)
    assert words(left) == [REASON]


def bye(route: Route) -> None:
    """Respond instead of the server."""
    route.fulfill(body="Bye")

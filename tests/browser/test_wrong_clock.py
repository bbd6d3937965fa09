"""Ages and countdowns are the server's, whatever the reader's clock says."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Sit, declare
from tests.browser.pace import hurry, with_pace

pytestmark = pytest.mark.browser
# A clock that is wrong by this many minutes, and that can be set while a page is open.
WRONG = """minutes => {
  const now = Date.now;
  window.wrong = minutes;
  Date.now = () => now() + window.wrong * 60_000;
}"""
JUST_NOW = re.compile(r"^(under a minute|[12] min)$")
LOOKS_MS = 20_000
PASS = "() => new Promise((done) => setTimeout(done, 6_000))"  # of the page's time: longer than they are left alone


@pytest.mark.parametrize("minutes", [-20, 1500])
def test_a_clock_that_is_wrong_or_is_set_changes_no_age(sit: Sit, minutes: int) -> None:
    page = with_pace(sit("Ada"))
    page.add_init_script(f"({WRONG})({minutes})")
    name = declare(page, "The clock is wrong", type="Isolated")
    ages, due = page.locator(f"#head [data-since], #i-{name} [data-since]"), page.locator("#now [data-due]")
    for path in ("/", f"/incidents/{name}/"):
        page.goto(path)
        hurry(page)
        for wrong in (minutes, minutes + 90):
            page.evaluate("minutes => { window.wrong = minutes; }", wrong)
            page.evaluate(PASS)
            expect(ages.first).to_have_text(JUST_NOW, timeout=LOOKS_MS)
    expect(due.first).to_have_text(re.compile("^in 5[0-9] min$"), timeout=LOOKS_MS)
    assert not page.locator("#now .overdue").count()

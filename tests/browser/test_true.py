"""After every verb, the open page offers what a fresh one offers: by keyboard, wherever it is opened."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from stack.supervisor.running import Stack
from tests.browser.axe import PHONE
from tests.browser.conftest import Sit, declare
from tests.browser.truth import expect_focus, expect_true
from tests.browser.walk import WALK, Step, carry_out

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = pytest.mark.browser
NOTES = """
from django.utils import timezone
from incidents import lifecycle
from incidents.models import Incident
incident = Incident.objects.get(codename="{codename}")
for n in range({count}):
    lifecycle.note(incident, text=f"note {{n}} ", by=incident.declared_by, at=timezone.now())
"""
HALF = "half a sentence"


def watch(page: Page, control: str) -> None:
    """Put an onlooker's focus where the page will change, if they can see it."""
    node = page.locator(control).first
    if node.is_visible():
        node.focus()


def test_after_every_verb_the_page_offers_what_a_fresh_one_does(sit: Sit) -> None:
    ada, mateo = sit("Ada"), sit("Mateo", viewport=PHONE)
    other = declare(ada, "The first of its kind")
    name = declare(ada, "Checkout is slow", type="Isolated")
    expect(ada.locator("#progress")).to_contain_text("all done", timeout=60_000)
    mateo.goto(f"/incidents/{name}/")
    for page in (ada, mateo):
        page.locator("#text").fill(HALF)
    for n, step in enumerate(WALK):
        watch(mateo, step.control)
        carry_out(ada, step, other=other)
        for page in (ada, mateo):
            expect_true(page, after=f"{n} {step.verb}")
            expect_focus(page, after=f"{n} {step.verb}")
            expect(page.locator("#text")).to_have_value(HALF)


def test_what_turns_private_lets_in_and_opens_up_is_true_all_along(sit: Sit) -> None:
    ada, mateo = sit("Ada"), sit("Mateo", viewport=PHONE)
    name = declare(ada, "A token of ours is used elsewhere")
    expect(ada.locator("#people")).to_contain_text("Mateo", timeout=60_000)
    expect(ada.locator("#progress")).to_contain_text("all done", timeout=60_000)
    mateo.goto(f"/incidents/{name}/")
    mateo.locator("#text").fill(HALF)
    watch(mateo, "#do-retype")
    ada.goto(f"/incidents/{name}/retype?to=security")
    ada.get_by_role("checkbox", name="Mateo").check()
    expect(ada.locator("#asked")).to_contain_text("brought in by Ada")
    ada.get_by_role("button", name="Retype to Security").click()
    ada.wait_for_url("**/incidents/*/")
    both(ada, mateo, after="retype")
    for who in ("Priya", "Oliver"):
        ask_in(sit(who), ada.url)
    for page in (ada, mateo):
        expect(page.locator("#access .asks-in").filter(has_text="requests access")).to_have_count(2, timeout=30_000)
    for page, control in ((ada, "#access [id^='let-in-']"), (mateo, "#access [id^='turn-away-']")):
        watch(mateo if page is ada else ada, control)
        page.locator(control).first.press("Enter")
        both(ada, mateo, after=control)
    for page, step in (
        (mateo, Step("open-up", {"The summary": "A token was public. It is not any more."})),
        (ada, Step("publish")),
    ):
        watch(mateo if page is ada else ada, step.control)
        carry_out(page, step)
        both(ada, mateo, after=step.verb)
    expect(mateo.locator("#text")).to_have_value(HALF)


def both(*pages: Page, after: str) -> None:
    """Expect the laws about controls and focus to hold for every onlooker."""
    for page in pages:
        expect_true(page, after=after)
        if after != "retype":  # its page leads to another one, which begins at the top
            expect_focus(page, after=after)


def ask_in(page: Page, url: str) -> None:
    """Ask to be let in where one may not look."""
    page.goto(f"/access/{url.rstrip('/').rsplit('/', 1)[1]}")
    page.get_by_label("Why do you need access?").fill("I wrote the export service.")
    page.get_by_role("button", name="Request access").click()
    expect(page.get_by_text("If this incident exists, its participants have been asked.")).to_be_visible()


def test_what_is_written_paged_claimed_and_taken_back_is_true_all_along(sit: Sit) -> None:
    page = sit("Ada")
    declare(page, "Checkout is slow")
    page.locator("#text").fill("Looking.")
    page.locator("#post-update").press("Enter")
    both(page, after="update")
    page.locator("#text").fill("Seen.")
    page.locator("#keep-note").press("Enter")
    both(page, after="note")
    page.locator("#text").fill(HALF)
    for step in (Step("edit", {"Text": "Seen twice."}, opener="[id^='edit-']"), Step("retract", opener="[id^='retr']")):
        carry_out(page, step)
        both(page, after=step.verb)
    page.locator("#page-somebody").press("Enter")
    page.get_by_label("Who?").select_option(index=1)
    page.locator("#page-now").press("Enter")
    both(page, after="page")
    expect(page.locator("#text")).to_have_value(HALF)


def test_entries_fetched_from_earlier_stay_true(sit: Sit, running_stack: Stack) -> None:
    page = sit("Ada")
    name = declare(page, "Checkout is slow")
    expect(page.locator("#progress")).to_contain_text("all done", timeout=60_000)
    running_stack.manage("shell", "--no-imports", "-c", NOTES.format(codename=name, count=50))
    page.reload()
    page.locator("#further a").press("Enter")
    old = page.locator("[id^='earlier-'] .event").filter(has_text="note 0 ")
    old.get_by_role("link", name="Edit entry").press("Enter")
    page.get_by_label("Text").fill("never so")
    page.locator("#act-now").press("Enter")
    expect(page.locator("[id^='earlier-'] .event").filter(has_text="never so")).to_be_visible()
    expect(old).to_have_count(0)
    expect_focus(page, after="change")
    page.get_by_text("Filter, or jump to a time").click()
    page.get_by_label("Words").fill("note")
    expect(page.locator("#sifted")).to_contain_text("note 49")
    expect(page.locator("main [id^='earlier-'] .event:visible")).to_have_count(0)


def test_an_answer_that_comes_after_its_news_loses_no_focus(sit: Sit) -> None:
    page = sit("Ada")
    declare(page, "Checkout is slow")
    expect(page.locator("#progress")).to_contain_text("all done", timeout=60_000)
    page.route("**/mitigate", late)
    carry_out(page, Step("mitigate"))
    expect_true(page, after="mitigate")
    expect_focus(page, after="mitigate")


def late(route: Route) -> None:
    """Make a response slow: what it changed is on the page before."""
    answer = route.fetch()
    if route.request.method == "POST":
        time.sleep(2)
    route.fulfill(response=answer)


def test_what_is_heard_while_the_page_looks_is_looked_at_afterwards(sit: Sit, running_stack: Stack) -> None:
    page = sit("Ada")
    name = declare(page, "Checkout is slow")
    expect(page.locator("#progress")).to_contain_text("all done", timeout=60_000)
    written: list[str] = []

    def before_it(route: Route) -> None:
        answer = route.fetch()
        if "/live?" in route.request.url and not written:
            written.append(name)
            running_stack.manage("shell", "--no-imports", "-c", NOTES.format(codename=name, count=1))
            time.sleep(1)
        route.fulfill(response=answer, body=answer.text().replace("every 10s, ", ""))  # and it does not refresh itself

    page.route(re.compile(rf"/incidents/{name}/(live.*)?$"), before_it)
    page.reload()
    page.locator("#text").fill("Seen.")
    page.locator("#keep-note").press("Enter")
    expect(page.locator("main .event").filter(has_text="note 0")).to_be_visible()


def test_what_failed_and_what_is_missing_is_true_until_it_is_done(sit: Sit, running_stack: Stack) -> None:
    page = sit("Ada")
    faults = f"{running_stack.sandbox_url}/sandbox/faults"
    failing = {"kind": "error", "method": "conversations.archive", "error": "restricted_action"}
    name = declare(page, "Images are missing")
    expect(page.locator("#progress")).to_contain_text("all done", timeout=60_000)
    page.request.post(faults, data=failing)
    page.goto(f"/incidents/{name}/retype?to=security")
    page.get_by_role("button", name="Retype to Security").click()
    page.wait_for_url("**/incidents/*/")
    expect(page.locator("#trouble [id^='done-']")).to_be_visible(timeout=60_000)
    expect_true(page, after="failing")
    page.locator("#trouble [id^='done-']").first.press("Enter")
    expect(page.locator("#toast")).not_to_be_empty()
    both(page, after="saying that it is done")
    page.request.delete(faults)
    page.goto(f"{page.url}progress")
    expect(page.locator("#trouble button")).not_to_have_count(0)
    page.locator("#trouble [id^='again-']").first.press("Enter")
    expect(page.locator("#trouble button")).to_have_count(0, timeout=60_000)
    expect_focus(page, after="trying again")

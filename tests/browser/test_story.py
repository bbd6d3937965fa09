"""What people do, in a real browser with real processes."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from stack.supervisor.running import Stack
from tests.browser.axe import faults
from tests.browser.conftest import Sit, declare, declare_by_hand
from tests.browser.weight import fetched

pytestmark = pytest.mark.browser
# Receive ten hints in a row that something may have changed, and count the page's concurrent refreshes.
HINTED = """() => {
  window.looks = 0;
  document.addEventListener("firekind:changed", () => { window.looks += 1; });
  for (let n = 0; n < 10; n++) document.dispatchEvent(new Event("visibilitychange"));
  return window.looks;
}"""
SOON_MS = 60_000  # generous: other tests may keep the machine busy


def test_declaring_shows_the_plan_first_and_the_people_afterwards(sit: Sit) -> None:
    page = sit("Ada")
    page.goto("/declare")
    expect(page.locator("#plan")).to_contain_text("invite")
    bar = page.locator(".confirming")
    expect(bar).to_contain_text("Ambiguous")
    page.get_by_role("radio", name="Major", exact=True).check()
    expect(bar).to_contain_text(re.compile(r"Major.* brings in \d+ more people"))
    more = page.get_by_text("Summary, lead, services, drill").bounding_box()
    assert more is not None
    assert more["y"] + more["height"] < (bar.bounding_box() or more)["y"], "the bar hides nothing that is asked"
    page.get_by_role("radio", name="Internal", exact=True).check()
    expect(page.locator("#plan")).to_contain_text("Internal")
    expect(bar).to_contain_text("Internal")
    expect(page.locator("#plan")).not_to_contain_text("@incident-response")
    declare_by_hand(page, "Checkout is slow by hand")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Checkout is slow by hand")
    expect(page.locator("#progress")).to_contain_text("all done", timeout=SOON_MS)
    expect(page.locator("#people")).to_contain_text("@incident-response")
    first, again = (fetched(page, page.url, cold=cold) for cold in (True, False))
    assert len(first.kinds) <= 7, first.kinds
    assert first.size <= 60_000
    assert {"Document"} <= set(again.kinds.values()) <= {"Document", "EventSource"}, "one request, besides its stream"
    at_once = page.evaluate(HINTED)
    assert at_once <= 1
    page.wait_for_function("once => window.looks > once", arg=at_once)


def test_an_update_arrives_in_a_second_browser_without_a_reload(sit: Sit) -> None:
    ada, mateo = sit("Ada"), sit("Mateo")
    name = declare(ada, "Search is empty")
    mateo.goto(f"/incidents/{name}/")
    mateo.evaluate("window.sameWindow = true")
    with mateo.expect_response(lambda response: response.url.split("?")[0].endswith("/stream")):
        mateo.reload()
    mateo.evaluate("window.sameWindow = true")
    ada.get_by_label("Update or note").fill("The index of the shop is empty; filling it again.")
    ada.get_by_role("button", name="Post update").click()
    expect(mateo.locator("#newest")).to_contain_text("filling it again", timeout=5_000)
    expect(mateo.locator("#now")).to_contain_text("filling it again")
    expect(mateo.locator("#arrived")).to_contain_text("Ada Okafor")
    expect(mateo.locator("#arrived")).to_be_empty()  # it was read aloud
    assert mateo.evaluate("window.sameWindow")
    expect(ada.get_by_label("Update or note")).to_have_value("")


def test_what_somebody_is_typing_survives_what_arrives(sit: Sit) -> None:
    ada, mateo = sit("Ada"), sit("Mateo")
    name = declare(ada, "Mail is late")
    mateo.goto(f"/incidents/{name}/")
    mateo.get_by_label("Update or note").fill("half a sentence")
    ada.get_by_label("Update or note").fill("The queue is long.")
    ada.get_by_role("button", name="Add note").click()
    expect(mateo.locator("#newest")).to_contain_text("The queue is long.", timeout=15_000)
    expect(mateo.get_by_label("Update or note")).to_have_value("half a sentence")


def test_a_page_that_lost_its_connection_says_so(sit: Sit) -> None:
    page = sit("Ada")
    page.clock.install()
    declare(page, "The network is flaky")
    page.context.set_offline(True)
    page.clock.fast_forward("00:15")  # by then it has asked for news
    expect(page.get_by_text("may be out of date")).to_be_visible(timeout=SOON_MS)
    page.context.set_offline(False)
    expect(page.get_by_text("may be out of date")).to_be_hidden(timeout=SOON_MS)


def test_an_impatient_double_click_declares_once(sit: Sit) -> None:
    page = sit("Ada")
    page.goto("/declare")
    page.get_by_label("What is wrong?").fill("Clicked twice by somebody impatient")
    page.get_by_role("button", name="Declare").dblclick()
    page.wait_for_url("**/incidents/*/")
    page.goto("/?q=impatient")
    expect(page.get_by_role("link", name="Clicked twice by somebody impatient")).to_have_count(1)
    page.goto("/declare")
    page.get_by_label("What is wrong?").press_sequentially("An impatient")
    expect(page.locator("#already")).to_contain_text("Already open")
    expect(page.locator("#already a")).to_have_text("Clicked twice by somebody impatient")
    assert faults(page) == []
    page.get_by_label("What is wrong?").fill("Zebras in the lobby")
    expect(page.locator("#already")).to_be_empty()


def test_a_retype_is_shown_before_it_is_confirmed(sit: Sit) -> None:
    page = sit("Ada")
    name = declare(page, "Login fails for some")
    expect(page.locator("#progress")).to_contain_text("all done", timeout=SOON_MS)
    page.get_by_role("link", name="Retype", exact=True).first.click()
    page.get_by_role("radio", name="Major", exact=True).check()
    plan = page.locator("#asked")
    expect(plan).to_contain_text("@support")
    expect(plan).to_contain_text("unchanged")
    page.get_by_label("What do you know now?").fill("everybody in Europe")
    page.get_by_role("button", name="Retype to Major").click()
    page.wait_for_url(f"**/incidents/{name}/")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Major")
    expect(page.locator("#newest")).to_contain_text("everybody in Europe")
    expect(page.locator("#people")).to_contain_text("@support", timeout=SOON_MS)


def test_a_retype_to_a_private_type_closes_the_page_of_those_left_behind(sit: Sit) -> None:
    ada, mateo, yuki = sit("Ada"), sit("Mateo"), sit("Yuki")
    name = declare(ada, "A token of ours is used elsewhere")
    for page in (mateo, yuki):
        with page.expect_response(lambda response: response.url.split("?")[0].endswith("/stream")):
            page.goto(f"/incidents/{name}/")
    expect(ada.locator("#people")).to_contain_text("Mateo", timeout=SOON_MS)
    expect(ada.locator("#progress")).to_contain_text("all done", timeout=SOON_MS)  # else the plan changes under way
    ada.goto(f"/incidents/{name}/retype?to=security")
    expect(ada.get_by_role("note").first).to_contain_text("What cannot be undone")
    ada.get_by_role("checkbox", name="Mateo").check()
    expect(ada.locator("#asked")).to_contain_text("brought in by Ada")
    ada.get_by_role("button", name="Retype to Security").click()
    ada.wait_for_url(f"**/incidents/{name}/")
    expect(yuki.get_by_role("heading", level=1)).to_have_text("Page not found.", timeout=10_000)
    expect(mateo.get_by_role("heading", level=1)).to_contain_text("Security", timeout=10_000)


def test_what_failed_is_said_and_can_be_tried_again(sit: Sit, running_stack: Stack) -> None:
    page = sit("Ada")
    faults = f"{running_stack.sandbox_url}/sandbox/faults"
    failing = {"kind": "error", "method": "conversations.setTopic", "error": "restricted_action"}
    page.request.post(faults, data=failing)
    declare(page, "Images are missing")
    failed = page.locator(".effect.failed").first
    expect(failed).to_be_visible(timeout=SOON_MS)
    expect(failed).to_contain_text("A workspace setting forbids this")
    page.request.delete(faults)
    failed.get_by_role("button", name="Retry").click()
    expect(page.locator("#progress")).to_contain_text("all done", timeout=SOON_MS)

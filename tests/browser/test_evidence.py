"""Adding evidence in a browser: dropped, errors shown where they occur, displayed as it arrives, withdrawn."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.axe import faults_everywhere
from tests.browser.conftest import Sit, declare
from tests.browser.pace import hurry, with_pace

if TYPE_CHECKING:
    from playwright.sync_api import FilePayload, Page

pytestmark = pytest.mark.browser

FASTER = 5  # than once in ten seconds
FOLDED = b"main;serve;price_basket;hash 61\nmain;serve;render 39\n"


def payload(name: str, content: bytes) -> FilePayload:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": content}


@pytest.fixture
def ada(sit: Sit) -> Page:
    page = sit("Ada")
    declare(page, "Checkout is slow")
    return page


def test_what_is_dropped_is_read_and_shown_to_everybody_on_the_incident(ada: Page, sit: Sit) -> None:
    here = ada.url
    other = sit("Mateo")
    other.goto(here)
    ada.goto(f"{here}evidence/")
    expect(ada.get_by_text("No evidence yet.")).to_be_visible()
    ada.set_input_files("#files", [payload("cpu.folded", FOLDED), payload("empty.folded", b"")])
    expect(ada.locator("#uploads .bad")).to_have_text("The file is empty.")
    expect(ada.locator("#proof-1 .measured")).to_contain_text("61 % of samples pass through hash", timeout=30_000)
    expect(other.locator("#newest")).to_contain_text("added evidence: cpu.folded", timeout=30_000)
    expect(other.locator("#newest img[alt='Flame graph: cpu.folded']")).to_have_js_property("complete", value=True)
    assert other.locator("#newest img").evaluate("image => image.naturalWidth") == 960
    expect(other.locator("#evidence")).to_contain_text("cpu.folded")


def test_what_others_do_with_evidence_is_seen_on_its_pages(ada: Page, sit: Sit) -> None:
    here = f"{ada.url}evidence/"
    every, one = with_pace(sit("Mateo")), with_pace(sit("Hannah"))
    every.goto(here)
    hurry(every, FASTER)
    ada.goto(here)
    ada.set_input_files("#files", [payload("cpu.folded", FOLDED)])
    expect(every.locator("#proof-1 .measured")).to_contain_text("61 % of samples", timeout=30_000)
    one.goto(f"{here}1/")
    hurry(one, FASTER)
    ada.goto(f"{here}../findings/")
    ada.get_by_label("Hypothesis").fill("It hashes each basket twice")
    ada.get_by_role("button", name="Add hypothesis").click()
    ada.get_by_role("radio", name="Supported").check()
    ada.get_by_label("Evidence 1 is for it").check()
    ada.get_by_label("Why?").fill("Half of it is the second time.")
    ada.get_by_role("button", name="Save verdict").click()
    expect(ada.get_by_text("Saved round")).to_be_visible()
    expect(one.locator(".resting")).to_contain_text("It hashes each basket twice")
    ada.goto(f"{here}1/withdraw")
    ada.get_by_role("button", name="Withdraw").click()
    expect(one.get_by_role("heading", name="Page not found")).to_be_visible()
    expect(every.locator("#proof-1")).to_have_count(0)


def test_a_file_is_dropped_anywhere_on_the_page(ada: Page) -> None:
    ada.goto(f"{ada.url}evidence/")
    ada.evaluate(
        """() => {
          const data = new DataTransfer();
          data.items.add(new File(["main;dropped_here 7\\n"], "dropped.folded"));
          document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
        }"""
    )
    expect(ada.locator("#proof-1")).to_contain_text("dropped_here", timeout=30_000)


def test_evidence_is_withdrawn_after_a_question_and_the_timeline_says_so(ada: Page) -> None:
    here = ada.url
    ada.goto(f"{here}evidence/")
    ada.set_input_files("#files", [payload("notes.bin", b"prose that holds a customer's name\n")])
    expect(ada.locator("#proof-1")).to_contain_text("a format we support", timeout=30_000)
    ada.locator("#proof-1 h3 a").click()
    ada.get_by_role("link", name="Withdraw…").click()
    ada.get_by_label("Why?").fill("it names a customer")
    ada.get_by_role("button", name="Withdraw").click()
    expect(ada.get_by_text("Withdrew notes.bin and deleted its file.")).to_be_visible()
    ada.goto(here)
    expect(ada.locator("#newest")).to_contain_text("Evidence withdrawn by Ada")


def test_without_scripts_a_file_is_sent_all_the_same(ada: Page, sit: Sit) -> None:
    page = sit("Ada", java_script_enabled=False)
    page.goto(f"{ada.url}evidence/")
    page.get_by_label(re.compile("Drop files here")).set_input_files([payload("cpu.folded", FOLDED)])
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_text("Added cpu.folded.")).to_be_visible()


def test_everybody_can_read_the_page_of_all_evidence(ada: Page) -> None:
    here = f"{ada.url}evidence/"
    ada.goto(here)
    ada.set_input_files("#files", [payload("cpu.folded", FOLDED), payload("other.bin", b"something else\n")])
    expect(ada.locator("#proof-2.kept, #proof-2.ready")).to_be_visible(timeout=30_000)
    wrong = []
    for path in (here, f"{here}1/withdraw", f"{here}2/"):
        ada.goto(path)
        wrong += faults_everywhere(ada)
    assert not wrong

"""Findings in a browser: maps by keyboard and on a phone, and a live strip."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from evidence.measures.tests import test_loads, test_sweeps
from tests.browser.axe import faults, faults_everywhere
from tests.browser.conftest import Sit, declare

if TYPE_CHECKING:
    from playwright.sync_api import FilePayload, Page

pytestmark = pytest.mark.browser

CLAIM = "The protocol is expensive"
FILES = {
    "sweep.csv": test_sweeps.polls(),
    "without.txt": test_loads.WITHOUT.encode(),
    "with.txt": test_loads.WITH.encode(),
}


@pytest.fixture
def ada(sit: Sit) -> Page:
    """Ada, who declared an incident, on its page."""
    page = sit("Ada")
    declare(page, "Peers burn CPU")
    return page


def bring(page: Page, here: str) -> None:
    """Drop all files, and wait until they were read."""
    page.goto(f"{here}evidence/")
    files: list[FilePayload] = [{"name": n, "mimeType": "text/plain", "buffer": b} for n, b in FILES.items()]
    page.set_input_files("#files", files)
    for number in range(1, len(FILES) + 1):
        expect(page.locator(f"#proof-{number} .measured")).to_be_visible(timeout=60_000)


def test_measurements_can_be_read_by_everybody(ada: Page) -> None:
    here = ada.url
    bring(ada, here)
    number = {n: ada.locator(".proof", has_text=n).get_attribute("id") or "" for n in FILES}
    sweep, control, other = (number[name].removeprefix("proof-") for name in FILES)
    wrong = []
    for path in (f"{sweep}/", f"{control}/", f"compare/?control={control}&with={other}", "compare/"):
        ada.goto(f"{here}evidence/{path}")
        wrong += faults_everywhere(ada)
    assert not wrong
    ada.goto(f"{here}evidence/compare/?control={control}&with={other}")
    expect(ada.locator(".sentence")).to_contain_text("90 % of requests: 435 ms → 2,030 ms")
    ada.goto(f"{here}evidence/{sweep}/")
    expect(ada.locator(".sentence")).to_contain_text("106 of 120 cells pass 1 %")
    ada.get_by_label("Threshold").focus()
    ada.keyboard.press("ControlOrMeta+a")
    ada.keyboard.type("0.1")
    ada.keyboard.press("Enter")
    expect(ada.locator(".sentence")).to_contain_text("cells pass 10 %")
    assert ada.locator("td.passes").first.evaluate("cell => getComputedStyle(cell).fontWeight") == "700"


def test_a_claim_is_ruled_out_before_the_eyes_of_a_latecomer(ada: Page, sit: Sit) -> None:
    here = ada.url
    mateo = sit("Mateo")
    mateo.goto(here)
    expect(mateo.locator("#findings")).to_contain_text("none yet")
    ada.locator("#findings").get_by_role("link", name="Findings").click()
    ada.get_by_label("Hypothesis").fill(CLAIM)
    ada.get_by_role("button", name="Add hypothesis").click()
    ada.wait_for_url(re.compile(r"/findings/1/$"))
    expect(mateo.locator("#findings")).to_contain_text(CLAIM, timeout=15_000)
    ada.get_by_role("radio", name="Refuted").check()
    ada.get_by_label("Why?").fill("6 % after the fix.")
    ada.get_by_role("button", name="Save verdict").click()
    expect(mateo.locator("#findings s")).to_have_text(CLAIM, timeout=15_000)
    expect(mateo.locator("#newest")).to_contain_text("6 % after the fix.")
    assert not faults(mateo)
    for path in ("findings/", "findings/1/"):
        ada.goto(f"{here}{path}")
        assert not faults_everywhere(ada)


def test_claims_are_made_and_judged_without_scripts(sit: Sit) -> None:
    page = sit("Ada", java_script_enabled=False)
    declare(page, "Pauses grow")
    here = page.url
    page.goto(f"{here}findings/")
    page.get_by_label("Hypothesis").fill(CLAIM)
    page.get_by_role("button", name="Add hypothesis").click()
    page.get_by_role("radio", name="Root cause").check()
    page.get_by_role("button", name="Save verdict").click()
    expect(page.locator(".finding .claim")).to_have_text(CLAIM)
    expect(page.locator(".finding .verdict").first).to_contain_text("Root cause")

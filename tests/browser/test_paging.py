"""Paging someone in a browser: by keyboard, and without scripts; the result reaches the open page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.axe import faults, faults_everywhere
from tests.browser.conftest import Sit, declare

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


def name_of(page: Page, policy: str) -> str:
    """Return an escalation policy as it is offered, with who it pages."""
    offered = page.locator("#page-form optgroup[label='Escalation policies'] option")
    return offered.filter(has_text=re.compile(f"^{policy} ")).inner_text()


def test_somebody_is_paged_by_keyboard_and_their_answer_is_seen(sit: Sit) -> None:
    page = sit("Ada")
    declare(page, "Support cannot log in")
    expect(page.locator("#pages")).to_contain_text("No one has been paged")
    page.locator("#main").focus()
    page.keyboard.press("p")
    dialog = page.get_by_role("dialog", name="Page someone")
    expect(dialog.get_by_label("Who?")).to_be_focused()
    expect(dialog).to_contain_text("No one is paged until you confirm.")
    page.keyboard.type("Support")
    page.keyboard.press("Tab")
    expect(dialog.locator("#rung")).to_contain_text(re.compile(r"Support:\s+\w+ .+ now\."))
    expect(dialog.get_by_label("Why?")).to_be_focused()
    assert not faults(page)
    page.keyboard.type("customers call")
    page.keyboard.press("Control+Enter")
    expect(dialog).not_to_be_visible()
    expect(page.locator("#pages")).to_contain_text("paging for", timeout=60_000)
    expect(page.locator("#pages")).to_contain_text("Requested by Ada Okafor: customers call")
    expect(page.locator("#newest")).to_contain_text(re.compile(r"Paged Support: \w+"))


def test_without_scripts_who_would_be_rung_is_a_step_of_its_own(sit: Sit) -> None:
    codename = declare(sit("Ada"), "Support cannot print")
    page = sit("Ada", java_script_enabled=False)
    page.goto(f"/incidents/{codename}/pages")
    page.get_by_label("Who?").select_option(label=name_of(page, "Support"))
    page.get_by_role("button", name="Show who is paged").click()
    expect(page.locator("#rung")).to_contain_text(re.compile(r"Support:\s+\w+ .+ now\."))
    page.get_by_role("button", name="Page Support").click()
    expect(page.locator("body")).to_contain_text("Requested: page Support (pages")


def page_by_name(page: Page, codename: str, name: str) -> None:
    """Page someone by name, on the standalone page."""
    page.goto(f"/incidents/{codename}/pages")
    offered = page.locator("#page-form optgroup[label='People'] option").filter(has_text=re.compile(f"^{name} "))
    page.get_by_label("Who?").select_option(label=offered.first.inner_text())
    page.get_by_role("button", name=re.compile(f"Page {name}")).click()
    expect(page.locator("body")).to_contain_text("Requested: page")


def test_whoever_was_paged_acknowledges_by_keyboard_or_without_scripts(sit: Sit) -> None:
    ada = sit("Ada")
    codename = declare(ada, "The letterpress hums")
    for name in ("Mateo", "Yuki"):
        page_by_name(ada, codename, name)
    mateo = sit("Mateo")
    mateo.goto(f"/incidents/{codename}/")
    button = mateo.get_by_role("button", name=re.compile("Acknowledge the page to Mateo"))
    expect(button).to_be_visible(timeout=60_000)
    assert not faults_everywhere(mateo)
    button.focus()
    mateo.keyboard.press("Enter")
    expect(mateo.locator("#you-paged")).to_be_empty(timeout=60_000)
    expect(mateo.locator("#pages")).to_contain_text(re.compile("acknowledged by Mateo"))
    yuki = sit("Yuki", java_script_enabled=False)
    yuki.goto(f"/incidents/{codename}/")
    yuki.get_by_role("button", name=re.compile("Acknowledge the page to Yuki")).click()
    expect(yuki.locator("body")).to_contain_text("Acknowledging the page to Yuki")
    expect(mateo.locator("#pages")).to_contain_text(re.compile("acknowledged by Yuki"), timeout=60_000)

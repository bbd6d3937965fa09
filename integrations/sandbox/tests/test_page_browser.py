"""The chat's page in a real browser: its forms, buttons and switches do what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import expect

from integrations.sandbox.tests.conftest import Sandbox

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


def test_a_topic_is_set_and_a_channel_made(sandbox: Sandbox, page: Page) -> None:
    page.goto(f"{sandbox.url}/?as=ada&in=checkout&panel=about")
    page.get_by_label("Topic").fill("Slow since nine")
    page.get_by_role("button", name="Set").click()
    expect(page.locator("main")).to_contain_text("Slow since nine")
    page.get_by_role("link", name="Browse or create").click()
    page.get_by_role("textbox", name="Name").fill("war-room")
    page.get_by_role("button", name="Create").click()
    expect(page).to_have_title("#war-room · Sandbox workspace")


def test_faults_are_switched_and_everything_starts_over(sandbox: Sandbox, page: Page) -> None:
    page.goto(f"{sandbox.url}/?as=ada&in=checkout&panel=faults")
    page.get_by_role("switch", name="Unreachable").click()
    expect(page.get_by_role("switch", name="Unreachable")).to_have_attribute("aria-checked", "true")
    page.get_by_role("button", name="Fresh workspace").click()
    page.get_by_role("button", name="Start over").click()
    expect(page.get_by_role("switch", name="Unreachable")).to_have_attribute("aria-checked", "false")
    assert sandbox.ask("GET", "/sandbox/state")["faults"] == []


def test_a_dialog_does_not_outlive_a_reload_and_then_asks_for_nothing(sandbox: Sandbox, page: Page) -> None:
    page.goto(f"{sandbox.url}/?as=ada&in=incidents")
    sandbox.act("command", user="ada", channel="incidents", text="/incident declare")
    trigger = parse_qs(sandbox.app.received[-1][1].decode())["trigger_id"][0]
    view = {"type": "modal", "title": {"type": "plain_text", "text": "Declare"}, "blocks": [{"type": "divider"}]}
    sandbox.client.views_open(trigger_id=trigger, view=view)
    expect(page.locator("#modal")).to_be_visible()
    page.reload()
    expect(page.locator("#modal")).to_be_hidden()
    assert sandbox.ask("GET", "/sandbox/state")["modals"] == {}
    expect(page.locator(".toast")).to_have_count(0)

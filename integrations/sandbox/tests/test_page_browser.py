"""The chat's page in a real browser: its forms, buttons and switches do what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import expect

from integrations.sandbox.tests.conftest import Sandbox

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

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


def test_enter_sends_what_is_typed_and_completes_only_what_was_chosen(sandbox: Sandbox, page: Page) -> None:
    page.goto(f"{sandbox.url}/?as=ada&in=incidents")
    box = page.locator("#composer")
    sent = len(sandbox.app.received)
    box.press_sequentially("/incident resolve")
    expect(page.locator("#suggestions")).to_contain_text("/incident resolved")
    box.press("Enter")
    expect(box).to_have_value("")
    expect(page.locator("#suggestions")).to_be_hidden()
    while len(sandbox.app.received) == sent:
        page.wait_for_timeout(50)
    assert parse_qs(sandbox.app.received[sent][1].decode())["text"] == ["resolve"]
    box.press_sequentially("/incident resolve")
    expect(page.locator("#suggestions")).to_contain_text("/incident resolved")
    box.press("ArrowDown")
    box.press("Enter")
    expect(box).to_have_value("/incident resolved")


def test_on_a_phone_a_picker_stands_under_its_words_as_wide_as_they_are(sandbox: Sandbox, page: Page) -> None:
    select = {
        "type": "static_select",
        "action_id": "which",
        "placeholder": {"type": "plain_text", "text": "Choose an incident"},
        "options": [{"text": {"type": "plain_text", "text": "Time bomb: " + "x" * 60}, "value": "a"}],
    }
    asked = {"type": "section", "text": {"type": "mrkdwn", "text": "Resolve which incident?"}, "accessory": select}
    sandbox.client.chat_postMessage(channel="C0INCIDENTS", text="Which?", blocks=[asked])
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{sandbox.url}/?as=ada&in=incidents")
    words, picker = page.locator(".b-words").last.bounding_box(), page.locator(".b-accessory select").bounding_box()
    assert words is not None
    assert picker is not None
    assert picker["y"] >= words["y"] + words["height"]
    assert picker["x"] >= 0
    assert picker["x"] + picker["width"] <= 390
    assert abs(picker["width"] - words["width"]) < 2


def test_on_a_phone_a_windows_buttons_keep_their_words_on_one_line(sandbox: Sandbox, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{sandbox.url}/?as=ada&in=incidents")
    sandbox.act("command", user="ada", channel="incidents", text="/incident retype")
    trigger = parse_qs(sandbox.app.received[-1][1].decode())["trigger_id"][0]
    view = {
        "type": "modal",
        "title": {"type": "plain_text", "text": "Retype"},
        "submit": {"type": "plain_text", "text": "Retype to Ambiguous type"},
        "close": {"type": "plain_text", "text": "Cancel"},
        "blocks": [{"type": "input", "label": {"type": "plain_text", "text": "Why?"},
                    "element": {"type": "plain_text_input", "action_id": "why"}}],
    }  # fmt: skip
    sandbox.client.views_open(trigger_id=trigger, view=view)
    cancel = page.get_by_role("button", name="Cancel", exact=True)
    expect(cancel).to_be_visible()
    lines = "one => { const r = document.createRange(); r.selectNodeContents(one); return r.getClientRects().length; }"
    assert cancel.evaluate(lines) == 1


def test_what_only_one_person_saw_is_gone_after_a_reload(sandbox: Sandbox, page: Page) -> None:
    page.goto(f"{sandbox.url}/?as=ada&in=incidents")
    sandbox.client.chat_postEphemeral(channel="C0INCIDENTS", user="U0ADA", text="only to you")
    expect(page.locator("main")).to_contain_text("only to you")
    page.reload()
    expect(page.locator("main")).not_to_contain_text("only to you")
    assert sandbox.ask("GET", "/sandbox/state")["ephemerals"] == []


def test_times_are_those_of_the_browser_and_not_of_the_profile(sandbox: Sandbox, browser: Browser) -> None:
    sandbox.client.chat_postMessage(channel="C0INCIDENTS", text="at <!date^1800000000^{date_short} {time}|then>")
    context = browser.new_context(timezone_id="Asia/Kolkata")
    page = context.new_page()
    page.goto(f"{sandbox.url}/?as=ada&in=incidents")
    expect(page.locator("main")).to_contain_text("at 15 Jan 2027 13:30")
    context.close()

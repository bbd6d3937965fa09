"""The account's page in a real browser: acting, live changes, input that is kept, accessibility."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from integrations.sandbox.tests.conftest import App, Sandbox

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser


def act(sandbox: Sandbox, name: str, **body: Any) -> Any:
    return sandbox.ask("POST", f"/sandbox/pagerduty/act/{name}", body)


def state(sandbox: Sandbox) -> Any:
    return sandbox.ask("GET", "/sandbox/pagerduty/state")


def test_an_alert_is_triggered_taken_and_resolved(sandbox: Sandbox, page: Page) -> None:
    page.goto(f"{sandbox.url}/pagerduty?as=PUADA")
    page.locator("#raise summary").click()
    page.get_by_label("What it says").fill("Payments time out")
    page.get_by_role("button", name="Trigger it").click()
    case = page.locator("li.case", has_text="Payments time out")
    expect(case).to_contain_text("triggered")
    case.get_by_role("button", name="Acknowledge").click()
    expect(case).to_contain_text("Acknowledged by Ada Okafor")
    case.get_by_text("More", exact=True).click()
    case.get_by_label("Note").fill("Looking")
    case.get_by_role("button", name="Write").click()
    expect(case).to_contain_text("Ada Okafor Looking")
    case.get_by_role("button", name="Resolve").click()
    expect(page.locator("li.case.resolved")).to_contain_text("Payments time out")


def test_a_storm_is_one_button(sandbox: Sandbox, page: Page) -> None:
    page.goto(f"{sandbox.url}/pagerduty")
    page.locator("#raise summary").click()
    page.get_by_role("button", name="Storm of 40").click()
    expect(page.locator("li.case")).to_have_count(40)


def test_an_override_is_added_moved_and_removed(sandbox: Sandbox, page: Page) -> None:
    page.goto(f"{sandbox.url}/pagerduty?as=PUGRACE")
    row = page.locator("#schedule-PSPLATFORMLEADERSHIP")
    row.get_by_text("Change who is on call").click()
    row.get_by_role("button", name="Add the override").click()
    expect(row.locator(".overrides")).to_contain_text("Grace Mwangi takes over")
    expect(row.locator(".on-now")).to_contain_text("Grace Mwangi")
    row.get_by_text("move", exact=True).click()
    moved = row.locator(".overrides form")
    on = datetime.now(UTC).date() + timedelta(days=7)  # what is over is no longer listed
    moved.get_by_label("From").fill(f"{on}T09:00")
    moved.get_by_label("To").fill(f"{on}T10:00")
    row.get_by_role("button", name="Move it", exact=True).click()
    expect(row.locator(".overrides")).to_contain_text(f"{on:%a} {on.day} {on:%b} 09:00")
    row.get_by_role("button", name="remove").click()
    expect(row.locator(".overrides")).to_have_count(0)


def test_a_hand_over_happens_now(sandbox: Sandbox, page: Page) -> None:
    page.goto(f"{sandbox.url}/pagerduty")
    row = page.locator("#schedule-PSPLATFORMLEADERSHIP")
    before = row.locator(".on-now b").inner_text()
    row.get_by_text("Change who is on call").click()
    row.get_by_role("button", name="Hand over now").click()
    expect(row.locator(".on-now b")).not_to_have_text(before)


def test_the_page_follows_what_others_do_and_keeps_what_was_typed(sandbox: Sandbox, page: Page) -> None:
    incident = act(sandbox, "trigger", service="payments", title="Slow")["id"]
    page.goto(f"{sandbox.url}/pagerduty?as=PUADA")
    case = page.locator("li.case")
    case.get_by_text("More", exact=True).click()
    case.get_by_label("Note").fill("Half a sentence")
    start = page.locator("#start-PSPLATFORMLEADERSHIP")
    page.locator("#change-PSPLATFORMLEADERSHIP").get_by_text("Change who is on call").click()
    start.fill("2027-03-01T09:00")
    page.locator("#end-PSPLATFORMLEADERSHIP").focus()
    act(sandbox, "acknowledge", user="wei", incident=incident)
    expect(case).to_contain_text("Acknowledged by Wei Chen")
    expect(case.get_by_label("Note")).to_have_value("Half a sentence")
    expect(start).to_have_value("2027-03-01T09:00")


def test_a_fault_is_switched_and_a_subscription_enabled(sandbox: Sandbox, app: App, page: Page) -> None:
    page.goto(f"{sandbox.url}/pagerduty?panel=faults")
    page.get_by_role("switch", name="Never answers").click()
    expect(page.get_by_role("switch", name="Never answers")).to_have_attribute("aria-checked", "true")
    assert [fault["kind"] for fault in state(sandbox)["faults"]] == ["timeout"]
    app.answer = lambda _: (403, b"")
    for _ in range(3):
        act(sandbox, "trigger", service="payments", title="Refused")
        sandbox.ask("GET", "/sandbox/pagerduty/idle")
    page.get_by_role("link", name="Webhooks").click()
    expect(page.locator(".subscription")).to_contain_text("Switched off until tomorrow")
    page.get_by_role("button", name="Enable it again").click()
    expect(page.locator(".subscription")).to_contain_text("On")
    assert state(sandbox)["told"] == {"PWFIREKIND": True}


@pytest.mark.parametrize(("scheme", "width"), [("light", 1360), ("dark", 390)])
def test_anybody_can_use_it(sandbox: Sandbox, browser: Browser, scheme: Any, width: int) -> None:
    first = act(sandbox, "trigger", service="payments", title="Slow", priority="P2")["id"]
    second = act(sandbox, "trigger", service="checkout-api", title="Slower")["id"]
    act(sandbox, "trigger", service="payments", title="Slowest")
    act(sandbox, "acknowledge", user="wei", incident=second)
    act(sandbox, "resolve", user="wei", incident=first)
    context = browser.new_context(viewport={"width": width, "height": 850}, color_scheme=scheme)
    page = context.new_page()
    wrong = []
    for panel in ("", "webhooks", "faults", "calls"):
        page.goto(f"{sandbox.url}/pagerduty?as=PUADA&panel={panel}")
        page.evaluate("for (const one of document.querySelectorAll('details.change')) one.open = true")
        found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
        wrong += [f"{panel} {one['id']}: {node['target']}" for one in found for node in one["nodes"]]
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()
    assert not wrong

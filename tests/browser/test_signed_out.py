"""People who are signed out see no page that was open: each says so, and gives back what was being typed."""

from __future__ import annotations

from typing import Final

import pytest
from playwright.sync_api import expect

from stack.supervisor.running import Stack
from tests.browser.conftest import Sit, declare, tabs_of
from tests.browser.pace import hurry
from tests.browser.test_closing_pages import send

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SOON_MS: Final = 90_000
HALF: Final = "half a sentence"
SECRET: Final = "xerographic"
ENDED: Final = """
from incidents.models import Person
from integrations.identity import sessions
sessions.end(Person.objects.get(name="Kofi Mensah").user_id)
"""
TYPED: Final = {"": "#text", "retype?to=major": "#because", "/declare": "#id_title"}


def test_every_open_page_leads_to_the_sign_in_and_back(sit: Sit, running_stack: Stack) -> None:
    page = sit("Kofi")
    ended = declare(page, f"The {SECRET} drum has stopped", type="Security")
    send(page, f"/incidents/{ended}/resolve")
    here = f"/incidents/{declare(page, f'The {SECRET} drum squeaks', type='Security')}/"
    below = ("", "timeline", "retype?to=major", "resolve", "findings/", "alerts")
    others = (f"/incidents/{ended}/review", "/", "/follow-ups", "/reviews", "/oncall/people/", "/declare", "/types/")
    tabs = tabs_of(sit, "Kofi", (*(f"{here}{one}" for one in below), *others))
    typed = {tabs[path if path.startswith("/d") else f"{here}{path}"]: field for path, field in TYPED.items()}
    for tab, field in typed.items():
        tab.locator(field).fill(HALF)
    for tab in tabs.values():
        hurry(tab)
    running_stack.manage("shell", "--no-imports", "-c", ENDED)
    for path, tab in tabs.items():
        expect(tab.get_by_text("You're signed out"), path).to_be_visible(timeout=SOON_MS)
        assert SECRET not in tab.content() + tab.title() + tab.evaluate("JSON.stringify(history.state)"), path
        if tab in typed:
            expect(tab.get_by_text("What you typed is kept in this tab")).to_be_visible()
    for path in (f"{here}timeline", "/oncall/people/"):  # once in each of the browsers
        tabs[path].get_by_role("button", name="Kofi Mensah").click()
    for tab, field in typed.items():
        expect(tab.locator(field)).to_have_value(HALF)

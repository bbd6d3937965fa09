"""An incident with many people: their list stays short, opens, and stays open while the page updates."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from stack.supervisor.running import Stack
from tests.browser.conftest import Sit, declare

pytestmark = pytest.mark.browser

CROWD = """
from django.utils import timezone
from incidents import lifecycle
from incidents.models import Incident, Person
incident = Incident.objects.get(codename="{codename}")
people = [Person.objects.get_or_create(chat_id=f"UCROWD{{n}}", name=f"Someone {{n}}")[0] for n in range(60)]
lifecycle.bring_in(incident, people=people, by=incident.declared_by, at=timezone.now())
"""
FULL_BARS = """() => [...document.querySelectorAll("progress")].filter((one) => one.checkVisibility()
  && getComputedStyle(one).borderTopWidth === "0px").length"""

OWN_COLOURS = """() => [...document.querySelectorAll("body *")].filter((one) => one.checkVisibility()
  && getComputedStyle(one).borderImageSource !== "none").length"""


def test_many_people_are_folded_and_all_there_also_on_paper(sit: Sit, running_stack: Stack) -> None:
    page = sit("Ada", forced_colors="active")
    codename = declare(page, "The kettle draws a crowd")
    running_stack.manage("shell", "--no-imports", "-c", CROWD.format(codename=codename))
    people = page.locator("#people .people li")
    expect(page.locator("#people")).to_contain_text("Someone 59", timeout=60_000)
    assert int(page.locator("#people .sum").inner_text()) == people.count()
    expect(people.filter(visible=True)).to_have_count(30)
    page.emulate_media(media="print")
    expect(people.filter(visible=True)).to_have_count(people.count())
    page.emulate_media(media="screen")
    page.locator("#more-people summary").click()
    page.locator("#text").fill("Looking.")
    page.locator("#keep-note").click()
    expect(page.locator("#newest")).to_contain_text("Looking.")
    expect(people.filter(visible=True)).to_have_count(people.count())
    assert page.evaluate(FULL_BARS) == 0, "a bar is seen where the system paints"
    assert page.evaluate(OWN_COLOURS) == 0, "text is read on a colour that the system did not choose"

"""Redacted words disappear from open pages even if no entry of a timeline they follow says so."""

from __future__ import annotations

from typing import Final

import pytest
from playwright.sync_api import expect

from stack.supervisor.running import Stack
from tests.browser.conftest import Sit, declare
from tests.browser.pace import hurry, with_pace
from tests.browser.test_closing_pages import retype_to_private
from tests.browser.test_redacted_pages import GONE, SECRET, SOON_MS

pytestmark = pytest.mark.browser
FASTER: Final = 5  # than once in ten seconds
HELD: Final = """
from django.utils import timezone
from incidents import lifecycle
from incidents.models import Event, Incident
from workflows.alerts import alert_redaction
from workflows.models import Alert
incident = Incident.objects.get(codename="{codename}")
now = timezone.now()
"""
ALERTED: Final = f"""{HELD}
for n, title in enumerate(["the password is {SECRET}", "p99 is up"]):
    Alert.objects.create(incident=incident, pager_id=f"{{codename}}-{{{{n}}}}", title=title, status_at=now, at=now)
"""
ALERT_REDACTED: Final = f"""{HELD}
alert_redaction.redact(incident, pager_id="{{codename}}-0", by=None, at=now)
Alert.objects.filter(pager_id="{{codename}}-1").update(status="resolved")
"""
OPENED: Final = f"""{HELD}
row = lifecycle.open_up(incident, summary="the password is {SECRET}", by=incident.declared_by, at=now)
print(lifecycle.publish(incident, summary=row.pk, by=None, at=now).codename)
"""
OPENING_REDACTED: Final = f"""{HELD}
lifecycle.redact(incident, n=Event.objects.get(incident=incident, kind="opening").n, by=None, at=now)
"""


def test_an_open_list_of_alerts_lets_go_of_a_title_and_follows_the_others(sit: Sit, running_stack: Stack) -> None:
    ada, reader = with_pace(sit("Ada")), with_pace(sit("Marcus"))
    codename = declare(ada, "The vault answers strangers")
    running_stack.manage("shell", "--no-imports", "-c", ALERTED.format(codename=codename))
    ada.goto(f"/incidents/{codename}/lead")
    ada.locator("#act-now").click()
    ada.goto(f"/incidents/{codename}/alerts?redact={codename}-0")
    expect(ada.get_by_role("button", name="Redact")).to_be_visible()
    reader.goto(f"/incidents/{codename}/alerts")
    expect(reader.locator(".alert")).to_have_count(2)
    for page in (ada, reader):
        hurry(page, FASTER)
    running_stack.manage("shell", "--no-imports", "-c", ALERT_REDACTED.format(codename=codename))
    for page in (ada, reader):
        page.wait_for_function(GONE, arg=SECRET, timeout=SOON_MS)
        expect(page.locator(".alert").filter(has_text="p99 is up")).to_contain_text("resolved")
    expect(ada.get_by_role("button", name="Redact")).to_have_count(0)


def test_an_open_summary_lets_go_of_what_it_said_also_for_those_outside(sit: Sit, running_stack: Stack) -> None:
    ada, outside = sit("Ada"), with_pace(sit("Marcus"))
    codename = declare(ada, "The vault answers strangers")
    retype_to_private(ada, f"/incidents/{codename}/")
    made = running_stack.manage("shell", "--no-imports", "-c", OPENED.format(codename=codename))
    outside.goto(f"/summaries/{made.stdout.strip().splitlines()[-1]}")
    expect(outside.locator("main")).to_contain_text(SECRET)
    hurry(outside, FASTER)
    running_stack.manage("shell", "--no-imports", "-c", OPENING_REDACTED.format(codename=codename))
    outside.wait_for_function(GONE, arg=SECRET, timeout=SOON_MS)
    expect(outside.locator("main")).to_contain_text("This summary was redacted.")

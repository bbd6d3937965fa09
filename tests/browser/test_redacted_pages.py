"""Redacted words disappear from every open page; what someone typed stays theirs."""

from __future__ import annotations

from typing import Final

import pytest
from playwright.sync_api import TimeoutError as Timeout
from playwright.sync_api import expect

from stack.short_runs import WalkPart
from stack.supervisor.running import Stack
from tests.browser.conftest import Sit, declare
from tests.browser.test_closing_pages import left_open, pages_of, prepared

pytestmark = pytest.mark.browser
SECRET: Final = "zebracorn"
SOON_MS: Final = 60_000
TYPED: Final = f"""
from django.utils import timezone
from incidents import lifecycle
from incidents.models import Incident
incident = Incident.objects.get(codename="{{codename}}")
said = {{{{"by": incident.declared_by, "at": timezone.now()}}}}
lifecycle.set_lead(incident, lead=incident.declared_by, **said)
for verb in (lifecycle.update, lifecycle.note, lifecycle.state_impact):
    verb(incident, text="the password is {SECRET}", **said)
lifecycle.state_next_step(incident, text="change {SECRET} now", **said)
for phase in ("during", "afterwards"):
    lifecycle.add_followup(incident, text="change {SECRET} in " + phase, phase=phase, **said)
lifecycle.describe(incident, summary="{SECRET} was said", **said)
lifecycle.describe(incident, summary="", **said)
"""
REVIEWED: Final = f"""
from django.utils import timezone
from incidents import lifecycle
from incidents.models import Incident
from reviews import editing
incident = Incident.objects.get(codename="{{codename}}")
said = {{{{"by": incident.declared_by, "at": timezone.now()}}}}
lifecycle.resolve(incident, **said)
for section in ("summary", "hard"):
    editing.write(incident, section=section, text="We know that the password is {SECRET}", seen="0.0", **said)
"""
REDACTED: Final = f"""
from django.utils import timezone
from incidents import lifecycle
from incidents.models import Event, Incident
incident = Incident.objects.get(codename="{{codename}}")
for one in Event.objects.filter(incident=incident, text__contains="{SECRET}").order_by("n"):
    one.refresh_from_db()
    if "{SECRET}" in one.text:
        lifecycle.redact(incident, n=one.n, by=None, at=timezone.now())
"""
GONE: Final = "word => !document.documentElement.outerHTML.includes(word)"
LISTS: Final = ("/", "/?q=password", "/follow-ups", "/reviews")


def test_every_open_page_lets_go_of_what_is_redacted(sit: Sit, running_stack: Stack, part: WalkPart) -> None:
    ada = sit("Ada")
    here = prepared(ada)
    codename = here.strip("/").rpartition("/")[2]
    running_stack.manage("shell", "--no-imports", "-c", TYPED.format(codename=codename))
    pages = [one for several in pages_of(ada, here).values() for one in several]
    pages += [
        one.get_attribute("href") or "" for one in ada.locator("[id^=history-], [id^=edit-], [id^=redact-]").all()
    ]
    showing = [one for one in (*pages, *LISTS) if SECRET in ada.request.get(one).text()]
    assert len(showing) > 4, showing
    left = left_open(sit, part.of(showing))
    running_stack.manage("shell", "--no-imports", "-c", REDACTED.format(codename=codename))
    wrong = []
    for address, tab in left:
        try:
            tab.wait_for_function(GONE, arg=SECRET, timeout=SOON_MS)
        except Timeout:
            wrong.append(address)
    assert not wrong


def test_what_somebody_types_on_such_a_page_stays(sit: Sit, running_stack: Stack) -> None:
    ada, reader = sit("Ada"), sit("Marcus")
    codename = declare(ada, "The vault answers strangers")
    running_stack.manage("shell", "--no-imports", "-c", TYPED.format(codename=codename))
    reader.goto("/?q=password")
    expect(reader.locator("#incidents")).to_contain_text(SECRET)
    reader.locator("#q").press("End")
    reader.locator("#q").press_sequentially(" and more", delay=1)
    running_stack.manage("shell", "--no-imports", "-c", REDACTED.format(codename=codename))
    reader.wait_for_function(GONE, arg=SECRET, timeout=SOON_MS)
    expect(reader.locator("#q")).to_have_value("password and more")


def test_a_review_lets_go_of_it_also_where_it_is_about_to_be_edited(sit: Sit, running_stack: Stack) -> None:
    ada, reader = sit("Ada"), sit("Marcus")
    codename = declare(ada, "The vault answers strangers")
    for script in (TYPED, REVIEWED):
        running_stack.manage("shell", "--no-imports", "-c", script.format(codename=codename))
    reader.goto(f"/incidents/{codename}/review")
    texts = reader.locator("textarea[name=text]")
    assert texts.evaluate_all("(all, word) => all.filter((one) => one.value.includes(word)).length", SECRET) == 2
    reader.evaluate("() => { for (const one of document.querySelectorAll('main details')) one.open = true; }")
    mine = reader.locator("textarea[name=comment]").first
    mine.fill("Is this so?")
    running_stack.manage("shell", "--no-imports", "-c", REDACTED.format(codename=codename))
    reader.wait_for_function(GONE, arg=SECRET, timeout=SOON_MS)
    assert texts.evaluate_all("(all, word) => all.filter((one) => one.value.includes(word)).length", SECRET) == 0
    expect(mine).to_have_value("Is this so?")


def test_a_page_that_heard_nothing_lets_go_once_it_can(sit: Sit, running_stack: Stack) -> None:
    """Its streams were unavailable, as while the web process is down."""
    ada, reader = sit("Ada"), sit("Marcus")
    codename = declare(ada, "The vault answers strangers")
    running_stack.manage("shell", "--no-imports", "-c", TYPED.format(codename=codename))
    reader.goto(f"/incidents/{codename}/timeline")
    expect(reader.locator("main")).to_contain_text(SECRET)
    reader.context.set_offline(True)
    reader.evaluate("() => dispatchEvent(new Event('pagehide'))")
    running_stack.manage("shell", "--no-imports", "-c", REDACTED.format(codename=codename))
    expect(reader.locator("main")).to_contain_text(SECRET)
    reader.context.set_offline(False)
    reader.evaluate("() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    reader.wait_for_function(GONE, arg=SECRET, timeout=SOON_MS)

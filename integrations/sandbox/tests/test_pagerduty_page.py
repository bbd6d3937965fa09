"""The account's page: who is on call, what can be done about an incident, and its empty states."""

from __future__ import annotations

import re
import urllib.request
from datetime import UTC, datetime
from typing import Any

import pytest

from integrations.pagerduty import fake
from integrations.sandbox.pagerduty.screen import Screen, ScreenAddress
from integrations.sandbox.pagerduty.shifts import ShownDays, row
from integrations.sandbox.tests.conftest import App, Sandbox

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC).timestamp()
HOUR_S = 3600.0


@pytest.fixture
def account() -> fake.FakeAccount:
    account = fake.FakeAccount(clock=lambda: NOON)
    for handle in ("ada", "ben", "cleo"):
        account.add_user(handle)
    account.add_schedule("Support", ["ada", "ben"], start=NOON - 3 * HOUR_S)
    return account


def test_the_line_shows_today_and_tomorrow_in_the_readers_time(account: fake.FakeAccount) -> None:
    window = ShownDays.around(NOON, "Asia/Tokyo")
    assert [day for _, day in window.days()] == ["Saturday 21 November", "Sunday 22 November"]
    assert window.share(window.since) == 0
    assert window.share(window.until) == 100
    assert window.says(NOON) == "21:00"
    assert window.says(NOON + 4 * HOUR_S) == "tomorrow 01:00"


def test_a_schedule_says_who_is_on_and_who_comes_next(account: fake.FakeAccount) -> None:
    shown = row(account, account.schedule("Support"), ShownDays.around(NOON, "Etc/UTC"))
    assert [(on.name, on.until) for on in shown.now] == [("Ada", "tomorrow 09:00")]
    assert [(on.name, on.until) for on in shown.later] == [("Ben", "tomorrow 09:00")]
    assert [(bar.name, bar.left) for bar in shown.bars] == [("Ben", 0), ("Ada", 18.75), ("Ben", 68.75)]
    assert shown.lanes == 1


def test_who_takes_over_is_marked_and_cuts_the_turn(account: fake.FakeAccount) -> None:
    account.acts.set_override("Support", "cleo", NOON + HOUR_S, NOON + 3 * HOUR_S)
    shown = row(account, account.schedule("Support"), ShownDays.around(NOON, "Etc/UTC"))
    assert [(bar.name, bar.over) for bar in shown.bars][1:4] == [("Ada", False), ("Cleo", True), ("Ada", False)]
    assert [account.user(over.user).name for over in shown.overrides] == ["Cleo"]


def test_several_people_at_once_have_a_line_each(account: fake.FakeAccount) -> None:
    schedule = account.add_schedule("All", ["ada", "ben"], every=True, v3=True)
    shown = row(account, schedule, ShownDays.around(NOON, "Etc/UTC"))
    assert shown.lanes == 2
    assert {on.name for on in shown.now} == {"Ada", "Ben"}


def test_whoever_is_on_call_acts_unless_somebody_is_chosen(account: fake.FakeAccount) -> None:
    chosen = [Screen(account, ScreenAddress(who=who)).me for who in ("", "PUCLEO", "nobody")]
    assert [person.name for person in chosen if person] == ["Ada", "Cleo", "Ada"]


def get(sandbox: Sandbox, path: str) -> tuple[str, str]:
    with urllib.request.urlopen(sandbox.url + path, timeout=30) as response:  # noqa: S310 -- our own server
        return response.read().decode(), response.headers.get("Content-Security-Policy", "")


def act(sandbox: Sandbox, name: str, **body: Any) -> Any:
    return sandbox.ask("POST", f"/sandbox/pagerduty/act/{name}", body)


@pytest.mark.parametrize("panel", ["", "webhooks", "faults", "calls", "nonsense"])
def test_every_panel_is_served_under_a_strict_policy(sandbox: Sandbox, panel: str) -> None:
    act(sandbox, "trigger", service="payments", title="Slow")
    text, policy = get(sandbox, f"/pagerduty?as=PUADA&panel={panel}")
    assert "unsafe" not in policy
    assert not re.search(r"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=", text)
    assert ("<aside" in text) == (panel in {"webhooks", "faults", "calls"})


def test_the_page_offers_what_can_be_done_now(sandbox: Sandbox) -> None:
    incident = act(sandbox, "trigger", service="payments", title="Slow")["id"]
    assert offered(sandbox) >= {"acknowledge", "resolve", "escalate"}
    act(sandbox, "acknowledge", user="ada", incident=incident)
    assert offered(sandbox) >= {"resolve", "unacknowledge"}
    act(sandbox, "resolve", user="ada", incident=incident)
    assert "reopen" in offered(sandbox)
    assert not offered(sandbox) & {"acknowledge", "resolve", "escalate"}


def offered(sandbox: Sandbox) -> set[str]:
    return set(re.findall(r'data-act="(\w+)"', get(sandbox, "/pagerduty?as=PUADA")[0]))


def test_what_is_not_there_is_said(sandbox: Sandbox) -> None:
    text, _ = get(sandbox, "/pagerduty?panel=webhooks")
    for words in ("Nothing is wrong.", "No one has been paged yet.", "Nothing yet.", "A stand-in for PagerDuty"):
        assert words in text, words


def test_a_subscription_that_was_switched_off_can_be_enabled_there(sandbox: Sandbox, app: App) -> None:
    app.answer = lambda _: (403, b"")
    for _ in range(3):
        act(sandbox, "trigger", service="payments", title="Slow")
        sandbox.ask("GET", "/sandbox/pagerduty/idle")
    text, _ = get(sandbox, "/pagerduty?panel=webhooks")
    assert "Switched off until tomorrow" in text
    assert "Enable it again" in text


def test_what_people_write_cannot_become_markup(sandbox: Sandbox) -> None:
    nasty = "<img src=x onerror=alert(1)>\"'><b>"
    incident = act(sandbox, "trigger", service="payments", title=nasty, details=nasty)["id"]
    act(sandbox, "note", user="ada", incident=incident, text=nasty)
    assert "<img" not in get(sandbox, "/pagerduty?as=PUADA")[0]


def test_links_of_the_account_lead_to_their_place(sandbox: Sandbox) -> None:
    incident = act(sandbox, "trigger", service="payments", title="Slow")["id"]
    text, _ = get(sandbox, f"/pagerduty/incidents/{incident}")
    assert f'id="case-{incident}"' in text


def test_the_chat_and_the_account_lead_to_each_other(sandbox: Sandbox) -> None:
    assert 'href="/pagerduty?as=' in get(sandbox, "/?as=ada&in=incidents")[0]
    assert 'href="/?as=' in get(sandbox, "/pagerduty")[0]


def test_the_page_of_a_storm_shows_some_and_counts_the_rest(sandbox: Sandbox) -> None:
    act(sandbox, "storm", service="payments", title="Slow", n=200)
    assert "150 more are open" in get(sandbox, "/pagerduty?as=PUADA")[0]


@pytest.mark.parametrize("who", ["kofi", "ada", "oliver"])
@pytest.mark.parametrize("path", ["/pagerduty", "/pagerduty/incidents/Q1"])
def test_the_pager_opens_as_the_person_who_watches_the_chat(sandbox: Sandbox, who: str, path: str) -> None:
    people = {one["handle"]: one for one in sandbox.ask("GET", "/sandbox/state")["people"]}
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    browser.open(f"{sandbox.url}/?as={who}", timeout=30).close()
    with browser.open(sandbox.url + path, timeout=30) as response:
        page = response.read().decode()
    assert f"You act as {people[who]['name']}." in page
    with browser.open(f"{sandbox.url}/pagerduty?as=PUADA", timeout=30) as response:
        assert "You act as Ada Okafor." in response.read().decode()


@pytest.mark.parametrize("who", ["kofi", "ada", "oliver"])
def test_the_way_back_to_the_chat_keeps_who_one_is(sandbox: Sandbox, who: str) -> None:
    with urllib.request.urlopen(f"{sandbox.url}/pagerduty?as=PU{who.upper()}", timeout=5) as response:  # noqa: S310 -- our own server
        found = re.search(r'href="(/\?as=[^"]+)"', response.read().decode())
    assert found is not None
    with urllib.request.urlopen(sandbox.url + found[1], timeout=30) as response:  # noqa: S310 -- our own server
        assert f'data-who="{who}"' in response.read().decode()

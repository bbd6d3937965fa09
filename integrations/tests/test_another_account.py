"""Another PagerDuty account is connected during incidents: pages stay in the previous one, and are listed."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from incidents import lifecycle
from incidents.models import Incident, Participant
from integrations.pagerduty import checking, fake
from integrations.pagerduty.fake import FakeAccount
from integrations.pagerduty.tasks import _take_all as act_on_webhooks
from integrations.pagerduty.tests.straight import SETUP, pager_on
from integrations.tests.another_account import KEY, connected, gaps, other, settle
from integrations.tests.duty import Duty
from workflows.effects.failing import recovering
from workflows.models import Effect, Page, PagerRead, Resource
from workflows.paging import paging, poll_pages
from workflows.planning.plan import Plan
from workflows.reconcile import reconcile, retyping
from workflows.status import page_status, progress

__all__ = ["other"]  # a fixture

WEBHOOKS = "webhook-secret"
STANDS = ["ringing", "acknowledged", "resolved"]
OWED = ["rung", "retitled", "ended"]
SECRET = "Keys"


def preview(duty: Duty, incident: Incident, to: str) -> Plan:
    return retyping.preview(incident, to=duty.house.type(to), by=duty.house.person("dee"))


def titles(one: FakeAccount) -> list[str]:
    return [incident.title for incident in one.account.incidents.values()]


def bring(duty: Duty, incident: Incident, stands: str) -> Incident:
    """Bring an incident's page into this state before the switch."""
    (page,) = duty.account.account.incidents.values()
    if stands != "ringing":
        getattr(duty.account.acts, stands.removesuffix("d"))("max", page.id)
        poll_pages.look_again(at=timezone.now() + timedelta(minutes=2))
    return duty.house.settle(incident)


@pytest.mark.parametrize("stands", STANDS)
def test_nobody_is_paged_anew_and_it_is_said_what_stands_where(duty: Duty, other: FakeAccount, stands: str) -> None:
    incident = bring(duty, duty.house.declare(type="major"), stands)
    before = set(Participant.objects.filter(incident=incident, left_at=None).values_list("person", flat=True))
    with connected(duty, pager_on(other, api_key=KEY)):
        incident = settle(duty, incident)
        assert not other.account.incidents
        assert len(gaps(incident)) == (stands != "resolved")
        after = set(Participant.objects.filter(incident=incident, left_at=None).values_list("person", flat=True))
        assert after >= before
        assert quiet(other)
    incident = settle(duty, incident)
    assert not gaps(incident)
    assert len(duty.account.account.incidents) == 1


def quiet(other: FakeAccount) -> bool:
    """Return whether regular looks ask nothing about another account's pages, and nothing fails."""
    before = other.calls.total
    for minutes in range(2, 8):
        at = timezone.now() + timedelta(minutes=minutes)
        poll_pages.look_again(at=at)
        recovering.retry(at=at)
    failed = Effect.objects.filter(kind__in=["page", "title", "acknowledged"], state="failed").exists()
    return not failed and not [call for call in other.calls.since(before) if call.status >= 400]


@pytest.mark.parametrize("to", ["internal", "ambiguous", "security"])
@pytest.mark.parametrize("stands", STANDS)
def test_a_plan_promises_nothing_there_and_follows_once_it_is_connected_again(
    duty: Duty, other: FakeAccount, stands: str, to: str
) -> None:
    house = duty.house
    incident = bring(duty, house.declare("Keys leaked", type="major"), stands)
    with connected(duty, pager_on(other, api_key=KEY)):
        incident = settle(duty, incident)
        plan = preview(duty, incident, to)
        assert not [line.text for line in plan.lines if line.text.startswith("resolve the page")]
        assert not [note.text for note in plan.notes if "titles of" in note.text or "will try" in note.text]
        named = [line.text for line in plan.lines if "PagerDuty account" in line.text]
        assert len(named) == (stands != "resolved" or to == "security")
        assert all(("what this is about" in text) == (to == "security") for text in named)
        incident = house.retype(incident, to)
        assert all(("what this is about" in text) == (to == "security") for text in gaps(incident))
        assert duty.opened(incident) == [f"Major incidents: {there(stands)}"]
        pages = [one for one in other.account.incidents.values() if one.status != "resolved"]
        assert [SECRET in one.title for one in pages] == ([False] if to == "security" else [])
        assert quiet(other)
    incident = settle(duty, incident)
    if stands != "resolved":
        assert not [text for text in gaps(incident) if "Major" in text]
        assert not (to == "security" and [title for title in titles(duty.account) if SECRET in title])
    ended = "acknowledged" if stands == "acknowledged" else "resolved"
    assert duty.opened(incident)[0] == f"Major incidents: {ended}"
    assert duty.times_rung("sid") == 0, "Security was paged in the other account"


def there(stands: str) -> str:
    return {"ringing": "triggered"}.get(stands, stands)


@pytest.mark.parametrize("fault", ["before", "in doubt", "failed"])
def test_what_was_owed_there_is_done_to_nothing_here(
    duty: Duty, other: FakeAccount, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page was to be resolved when the account was replaced: it is listed as open, and resolved once possible."""
    house = duty.house
    incident = house.declare(type="major")
    if fault != "before":
        duty.pager.rest.is_down = duty.pager.fallback.is_down = True
    plan = preview(duty, incident, "internal")
    by, to = house.person("dee"), house.type("internal")
    retyping.confirm(incident, to=to, by=by, at=house.now(), digest=plan.digest)
    if fault != "before":
        house.settle(incident, rounds=1 if fault == "in doubt" else 20)
    duty.pager.rest.is_down = duty.pager.fallback.is_down = False
    if fault == "in doubt":
        Effect.objects.filter(kind="page", verb="retire").update(unsure=True)
    incident = Incident.objects.get(pk=incident.pk)
    with connected(duty, pager_on(other, api_key=KEY)):
        incident = settle(duty, incident)
        assert not other.account.incidents
        (says,) = gaps(incident)
        assert "Resolve it there" in says
        assert not incident.events.filter(kind="page", text__startswith="resolved").exists()
        assert quiet(other)
    incident = settle(duty, incident)
    assert duty.opened(incident) == ["Major incidents: resolved"]
    assert not gaps(incident)


def test_a_page_in_doubt_there_goes_out_here_and_is_found_once_that_is_connected_again(
    duty: Duty, other: FakeAccount
) -> None:
    house = duty.house
    duty.pager.rest.fatal = "POST"  # it is opened, and the answer is lost
    incident = lifecycle.declare("Down", by=house.person("dee"), at=house.now(), type=house.type("major"))
    house.settle(incident, rounds=1)
    duty.pager.rest.fatal, duty.pager.rest.is_down = "", False
    assert len(duty.account.account.incidents) == 1
    with connected(duty, pager_on(other, api_key=KEY)):
        incident = settle(duty, incident)
        (page,) = other.account.incidents.values()
        assert page.status == "triggered"
        lifecycle.resolve(incident, by=house.person("dee"), at=house.now(), text="Rolled back")
        incident = settle(duty, incident)
        assert page.status == "resolved"
        assert quiet(other)
    incident = settle(duty, incident)
    for minutes in range(2, 30, 2):
        poll_pages.look_again(at=timezone.now() + timedelta(minutes=minutes))
        incident = house.settle(incident)
    (first,) = duty.account.account.incidents.values()
    assert first.status == "resolved"


def test_what_is_declared_meanwhile_is_paged_here_and_not_before_the_account_was_read(
    duty: Duty, other: FakeAccount
) -> None:
    house = duty.house
    with connected(duty, pager_on(other, api_key=KEY)):
        incident = house.declare(type="major")
        assert not [call for call in other.calls.since(0) if call.method == "POST"]
        incident = settle(duty, incident)
        (page,) = other.account.incidents.values()
        assert page.status == "triggered"
        assert duty.times_rung("max") == 0
    incident = settle(duty, incident)
    assert not duty.account.account.incidents
    assert len(gaps(incident)) == 1


def test_whoever_pages_by_hand_pages_here(duty: Duty, other: FakeAccount) -> None:
    house = duty.house
    incident = house.declare(type="major")
    with connected(duty, pager_on(other, api_key=KEY)):
        incident = settle(duty, incident)
        paging.ask(incident, target="policy/Q9PMAJ", by=house.person("dee"), at=house.now())
        incident = settle(duty, incident)
        (page,) = other.account.incidents.values()
        lifecycle.resolve(incident, by=house.person("dee"), at=house.now(), text="Rolled back")
        incident = settle(duty, incident)
        assert page.status == "resolved"
        assert duty.opened(incident) == ["Major incidents: triggered"]
        assert len(gaps(incident)) == 1, "also once it is over"
    incident = settle(duty, incident)
    assert duty.opened(incident) == ["Major incidents: resolved"]
    assert not gaps(incident)


@pytest.mark.parametrize("heard", ["there", "late"])
@pytest.mark.parametrize(("to", "act"), [("major", "acknowledge"), ("major", "resolve"), ("security", "acknowledge")])
def test_what_its_own_account_tells_of_a_page_disturbs_nothing_and_is_right_once_that_is_connected(
    duty: Duty, other: FakeAccount, monkeypatch: pytest.MonkeyPatch, to: str, act: str, heard: str
) -> None:
    """Its webhooks arrive while another account is connected, or only after that."""
    given: Any = SETUP
    monkeypatch.setattr(settings, "FIREKIND", replace(settings.FIREKIND, pagerduty=given))
    duty.account.add_subscription(secret=WEBHOOKS)
    incident = duty.house.declare("Keys leaked", type="major")
    (page,) = duty.account.account.incidents.values()
    with connected(duty, pager_on(other, api_key=KEY)):
        incident = settle(duty, incident)
        incident = duty.house.retype(incident, to) if to != "major" else incident
        titles_there = titles(other)
        getattr(duty.account.acts, act)("max", page.id)
        if heard == "there":
            hear(duty)
            incident = settle(duty, incident)
            assert Page.objects.get(pager_id=page.id).status == page.status
            assert bool([text for text in gaps(incident) if "Resolve it there" in text]) == (page.status != "resolved")
        assert titles(other) == titles_there
        assert duty.times_rung("max") == 1
        assert quiet(other)
    incident = settle(duty, incident)
    if heard == "late":
        hear(duty)
    poll_pages.look_again(at=timezone.now() + timedelta(minutes=5))
    incident = settle(duty, incident)
    assert Page.objects.get(pager_id=page.id).status == page.status
    assert not [text for text in gaps(incident) if "Major" in text]
    did = f"{act.removesuffix('e')}ed the page to Major incidents"
    (said,) = incident.events.filter(kind="page", text__startswith=did)
    assert said.by == duty.house.person("max")
    assert to == "major" or SECRET not in page.title
    assert duty.times_rung("max") == 1
    assert not Effect.objects.filter(incident=incident, state="failed").exists()


def hear(duty: Duty) -> None:
    """Deliver the account's webhooks, and process them."""
    for delivery in duty.account.take_deliveries():
        headers, body = fake.signed(delivery, [WEBHOOKS])
        answer = Client().post("/pagerduty/webhook", body, content_type="application/json", headers=headers)
        assert answer.status_code < 300, answer.content
    act_on_webhooks()


@pytest.mark.parametrize("again", [True, False], ids=["paged again", "left"])
@pytest.mark.parametrize("moment", ["asked", "planned", "refused"])
@pytest.mark.parametrize("name", ["Major incidents", "Max"])
def test_a_page_by_hand_that_was_not_sent_is_said_and_sent_once_wherever(
    duty: Duty, other: FakeAccount, name: str, moment: str, again: bool
) -> None:
    """It was requested just before the switch; another account refuses ids that it does not know."""
    house = duty.house
    incident = house.declare(type="internal")
    ask(duty, incident, name)
    if moment == "planned":
        reconcile.reconcile(incident.pk, at=timezone.now())
    with connected(duty, pager_on(other, api_key=KEY)):
        if moment == "refused":  # not long enough for the switch
            PagerRead.objects.update(connection="")
            house.settle(incident)
            assert Effect.objects.filter(kind="page", state="failed").exists()
            PagerRead.objects.update(connection=duty.pager.connection)
        incident = settle(duty, incident)
        assert not other.account.incidents
        assert not [line for line in progress.of(incident).effects if line.kind == "page"], "nothing is left to retry"
        (said,) = unsent(incident)
        assert f"Page {name} again" in said
        if again:
            ask(duty, incident, name)
            incident = settle(duty, incident)
            assert len(other.account.incidents) == 1
            assert not unsent(incident)
        assert quiet(other)
    incident = settle(duty, incident)
    assert not unsent(incident)
    assert len(duty.account.account.incidents) == (not again)
    if again:
        ask(duty, incident, name)
        settle(duty, incident)
        assert len(duty.account.account.incidents) == 1


def ask(duty: Duty, incident: Incident, name: str) -> None:
    choice = paging.named(name, paging.choices(incident))
    assert choice is not None
    paging.ask(incident, target=choice.target, by=duty.house.person("dee"), at=duty.house.now())


def unsent(incident: Incident) -> list[str]:
    found = Resource.objects.filter(incident=incident, kind="gap", key__startswith="gap/sent/")
    return list(found.values_list("label", flat=True))


def test_the_doctor_counts_what_is_open_there(duty: Duty, other: FakeAccount) -> None:
    incident = duty.house.declare(type="major")
    pager = pager_on(other, api_key=KEY)
    with connected(duty, pager):
        settle(duty, incident)
        found = checking.findings(pager, webhook_url="https://x.example/pagerduty/webhook", at=timezone.now())
        (said,) = [one for one in found if "no longer connected" in one.says]
        assert said.is_note
        assert "1 page is open" in said.says
        assert paging.said(Page.objects.get()).endswith("no longer connected")


def test_what_is_said_of_a_page_there_offers_no_channel_and_counts_no_time(duty: Duty, other: FakeAccount) -> None:
    incident = duty.house.declare(type="major")
    with connected(duty, pager_on(other, api_key=KEY)):
        incident = settle(duty, incident)
        (gap,) = [one for one in progress.of(incident).gaps if "PagerDuty account" in one.says]
        assert not gap.is_channel
        (line,) = page_status.of(incident).lines
        assert line.elsewhere

"""The PagerDuty account that a key leads to is read soon and once, and no page waits for that for long."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.utils import timezone

from incidents import lifecycle
from integrations.pagerduty.fake import FakeAccount
from integrations.pagerduty.tests.straight import pager_on
from integrations.slack.adapter.client import SlackChat
from integrations.slack.adapter.identity import Identity
from integrations.slack.tests.straight import StraightWire
from integrations.tests.another_account import KEY, connected, gaps, other, read, settle
from integrations.tests.duty import Duty
from integrations.tests.house import TOKEN
from workflows import pager_account, ports
from workflows.models import Page, PagerRead
from workflows.oncall import pager_cache, refresh
from workflows.performing import perform
from workflows.reconcile import reconcile

__all__ = ["other"]  # a fixture


@pytest.mark.parametrize("change", [{"api_key": KEY}, {"sender": "dee@example.com"}])
def test_another_key_of_the_same_account_changes_nothing(duty: Duty, change: dict[str, Any]) -> None:
    incident = duty.house.declare(type="major")
    duty.account.api_key = str(change.get("api_key", duty.account.api_key))
    with connected(duty, pager_on(duty.account, **change)):
        incident = settle(duty, incident)
        assert not gaps(incident)
        lifecycle.resolve(incident, by=duty.house.person("dee"), at=duty.house.now(), text="Rolled back")
        incident = settle(duty, incident)
    assert duty.opened(incident) == ["Major incidents: resolved"]


def test_no_page_waits_for_long_until_the_account_is_read(duty: Duty) -> None:
    """A key was rotated. The process that reads the account is slow, or died in the restart while holding the lock."""
    read()
    duty.account.api_key = KEY
    PagerRead.objects.update(reading_until=timezone.now() + refresh.LEASE)
    with connected(duty, pager_on(duty.account, api_key=KEY)), patch.object(perform, "timezone") as clock:
        clock.now.return_value = at = timezone.now()
        incident = duty.house.declare(type="major")
        assert duty.times_rung("max") == 0
        clock.now.return_value = at + pager_account.HELD_AT_MOST
        read()
        duty.house.settle(incident)
        assert duty.times_rung("max") == 1


def test_processes_with_different_keys_do_not_read_the_account_all_the_time(duty: Duty) -> None:
    """They are restarted one by one with another key: PagerDuty would refuse pages for what they ask for."""
    at, ours = timezone.now(), [pager_on(duty.account), pager_on(duty.account, api_url="https://proxy.example")]
    before = duty.account.calls.total
    for seconds in range(0, 60, 2):
        for pager in ours:
            with connected(duty, pager):
                refresh.keep(at=at + timedelta(seconds=seconds))
    asked = [call for call in duty.account.calls.since(before) if call.path == "/users"]
    assert 2 <= len(asked) <= 3


def test_nobody_comes_to_another_account_by_the_same_key(duty: Duty) -> None:
    """Whomever it lists: in a small account everyone may have been replaced, and a service deleted."""
    duty.house.declare(type="major")
    read()
    assert not pager_account.arrive(duty.pager, [], people=["QNEW"], at=timezone.now())
    assert not Page.objects.filter(elsewhere=True).exists()


def test_while_another_account_cannot_be_read_its_fallback_pages(duty: Duty, other: FakeAccount) -> None:
    other.add_integration("Firekind", key=other.routing_key)
    pager = pager_on(other, api_key=KEY)
    pager.rest.is_down = True
    with connected(duty, pager):
        read()
        assert PagerRead.objects.get().failed_at is not None
        duty.house.declare(type="major")
        assert len(other.account.incidents) == 1


def test_it_is_read_at_once_with_another_key(duty: Duty, other: FakeAccount) -> None:
    pager_cache.refresh(at=timezone.now())
    with connected(duty, pager_on(other, api_key=KEY)):
        assert refresh.keep(at=timezone.now())
        asked = other.calls.total
        refresh.keep(at=timezone.now())
        assert other.calls.total == asked


class Asked(StraightWire):
    """Records how many pages were open when Slack was asked which workspace it is."""

    account: FakeAccount
    pages: int | None = None

    def call(self, method: str, **arguments: Any) -> dict[str, Any]:
        if method == "auth.test":
            self.pages = len(self.account.account.incidents)
        return super().call(method, **arguments)


def test_no_page_waits_until_it_is_known_which_workspace_slack_is(duty: Duty) -> None:
    wire = Asked(duty.house.slack, token=TOKEN)
    wire.account = duty.account
    house = duty.house
    incident = lifecycle.declare("Down", by=house.person("dee"), at=house.now(), type=house.type("major"))
    with ports.using(chat=SlackChat(wire, identity=Identity(wire)), pager=duty.pager):
        reconcile.reconcile(incident.pk, at=timezone.now())
        perform.drain(incident.pk, side_by_side=False)
    assert wire.pages == 1

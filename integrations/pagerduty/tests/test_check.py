"""`manage.py pagerduty_check` says in a sentence what is wrong, and `manage.py check` what is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any, Final

import pytest
from django.core.management import CommandError, call_command

from integrations.pagerduty import fake
from integrations.pagerduty.adapter import current
from integrations.pagerduty.fake.core import ABILITIES
from integrations.pagerduty.protocol import setup
from integrations.pagerduty.tests.straight import StraightPager, pager_on

Spoil = Callable[[fake.FakeAccount], object]


def checked(pager: StraightPager) -> tuple[list[str], str]:
    """Run the command; return its lines and its error."""
    out = StringIO()
    with current.using(pager):
        try:
            call_command("pagerduty_check", stdout=out)
        except CommandError as error:
            return out.getvalue().splitlines(), str(error)
    return out.getvalue().splitlines(), ""


@pytest.fixture
def account(db: None) -> fake.FakeAccount:
    account = fake.demo()
    account.add_subscription(setup.webhook_url())
    return account


def test_all_is_well(account: fake.FakeAccount) -> None:
    lines, ended = checked(pager_on(account))
    assert ended == ""
    assert [line for line in lines if not line.startswith("fine  ")] == []
    assert not account.writes()


def _other_url(account: fake.FakeAccount) -> None:
    for subscription in account.account.subscriptions.values():
        subscription.url = "https://elsewhere.example/pagerduty/webhook"


def _inactive(account: fake.FakeAccount) -> None:
    for subscription in account.account.subscriptions.values():
        subscription.active = False


def _disabled(account: fake.FakeAccount) -> None:
    for subscription in account.account.subscriptions.values():
        subscription.disabled_until = account.now() + 3_600


def _unruled(account: fake.FakeAccount, policy: str) -> None:
    account.add_user("quinn", notified_of=["low"])
    account.add_policy(policy, "quinn")
    account.add_user("rae", notified_of=[])  # who is never on call


SPOILT: Final[list[tuple[Spoil, str]]] = [
    (lambda account: account.account.users.pop("PUFIREKIND"), "PAGERDUTY_FROM is firekind@example.com, which is not"),
    (
        lambda account: _unruled(account, "Data"),
        "Quinn is on call for Data within two weeks, but PagerDuty has no rule",
    ),
    (lambda account: account.add_policy("Data", "firekind"), "is on the first level of Data within two weeks"),
    (
        lambda account: account.account.services.pop("PVFIREKIND"),
        "PAGERDUTY_SERVICE is Firekind, which is not an enabled service",
    ),
    (lambda account: account.service("Firekind").integrations.clear(), "does not belong to any integration"),
    (_other_url, "No webhook subscription points at"),
    (_inactive, "is disabled"),
    (_disabled, "is off for a day"),
]


@pytest.mark.parametrize(("spoil", "says"), SPOILT)
def test_what_is_wrong_is_named_with_its_next_step(account: fake.FakeAccount, spoil: Spoil, says: str) -> None:
    spoil(account)
    lines, ended = checked(pager_on(account))
    wrong = [line for line in lines if line.startswith("fix  ")]
    assert any(says in line for line in wrong)
    assert ended == f"{len(wrong)} to fix."


def test_a_key_that_is_not_accepted_ends_the_questions(account: fake.FakeAccount) -> None:
    lines, ended = checked(pager_on(account, api_key="wrong"))
    assert lines == [
        "fix  PagerDuty does not accept the key. Set PAGERDUTY_API_KEY to a valid REST API key and restart."
    ]
    assert ended == "1 to fix."


EU, ELSEWHERE = "https://{}.eu.pagerduty.com", "https://{}.pagerduty.com"


@pytest.mark.parametrize(("api", "hinted"), [(ELSEWHERE, True), (EU, False)])
def test_a_key_that_is_not_accepted_may_be_of_the_other_region(
    account: fake.FakeAccount, api: str, hinted: bool
) -> None:
    (line,), _ = checked(pager_on(account, api_key="wrong", api_url=api.format("api")))
    assert ("PAGERDUTY_API_URL to https://api.eu.pagerduty.com" in line) is hinted


@pytest.mark.parametrize("api", [EU, ELSEWHERE])
@pytest.mark.parametrize("events", [EU, ELSEWHERE])
def test_a_fallback_into_the_other_region_is_named(account: fake.FakeAccount, api: str, events: str) -> None:
    lines, _ = checked(pager_on(account, api_url=api.format("api"), events_url=events.format("events")))
    named = [line for line in lines if line.startswith("fix  PAGERDUTY_EVENTS_URL is in another region")]
    assert [api.format("events") in line for line in named] == [True] * (api != events)


def test_a_missing_secret_is_to_be_mended(account: fake.FakeAccount) -> None:
    lines, _ = checked(pager_on(account, webhook_secrets=()))
    assert any("PAGERDUTY_WEBHOOK_SECRETS is not set" in line for line in lines if line.startswith("fix"))


def test_what_may_be_left_out_is_worth_a_note(account: fake.FakeAccount) -> None:
    account.account.abilities = [one for one in ABILITIES if one != "urgencies"]
    lines, ended = checked(pager_on(account, service="", routing_key=""))
    notes = "\n".join(line for line in lines if line.startswith("note  "))
    assert ended == ""
    assert all(name in notes for name in ("PAGERDUTY_SERVICE", "PAGERDUTY_ROUTING_KEY", "urgencies"))


def test_without_a_key_there_is_nothing_to_ask(settings: Any) -> None:
    settings.FIREKIND = replace(settings.FIREKIND, pagerduty=None)
    with pytest.raises(CommandError, match="PAGERDUTY_API_KEY is not set: no one is paged"):
        call_command("pagerduty_check")


LOADS: Final = """
import sys, django
django.setup()
from dataclasses import replace
from django.conf import settings
from django.urls import get_resolver
from config.env import PagerDutySettings
given = {"api_url": "https://a.example", "api_key": "k", "sender": "a@example.com", "events_url": "https://e.example"}
pagerduty = PagerDutySettings(service="", webhook_secrets=(), routing_key="", **given)
settings.FIREKIND = replace(settings.FIREKIND, pagerduty=pagerduty)
from workflows import ports
assert ports.pager() is not None and get_resolver().url_patterns
loaded = {"pagerduty", "httpx2"} & set(sys.modules)
assert not loaded, loaded
"""


def test_a_process_that_rings_nobody_does_not_load_pagerdutys_client() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADS],
        cwd=Path(__file__).parents[3],
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings_test"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_a_service_in_a_maintenance_window_is_warned_of(account: fake.FakeAccount) -> None:
    account.service("PVFIREKIND").status = "maintenance"
    (warned,) = [line for line in checked(pager_on(account))[0] if "maintenance window" in line]
    assert warned.startswith("note  The service Firekind is in a maintenance window")


@pytest.mark.parametrize("grouping", ["", "time", "intelligent", "content_based"])
@pytest.mark.parametrize("service", ["PVFIREKIND", "PVPAYMENTS"])
def test_grouping_where_the_fallback_leads_is_warned_of(account: fake.FakeAccount, service: str, grouping: str) -> None:
    account.service(service).grouping = grouping
    lines, ended = checked(pager_on(account))
    warned = [line for line in lines if "groups alerts" in line]
    assert bool(warned) == (bool(grouping) and service == "PVFIREKIND")
    assert all(line.startswith("note  ") and grouping.replace("_", " ") in line for line in warned)
    assert ended == ""

"""Whatever a vendor answers to a check, each sentence is true and says what to do: checks are not retried."""

from __future__ import annotations

from typing import Any, Final

import pytest
from django.utils import timezone

from config.doctor import vendors
from config.parsing import tracker
from integrations.check_result import CheckResult
from integrations.pagerduty import fake as pagerduty
from integrations.pagerduty.adapter import current as pagerduty_current
from integrations.pagerduty.protocol import setup as pagerduty_setup
from integrations.pagerduty.tests.straight import pager_on
from integrations.slack import fake as slack
from integrations.slack.adapter import current as slack_current
from integrations.slack.adapter.identity import Identity
from integrations.slack.checking import findings
from integrations.slack.protocol import setup as slack_setup
from integrations.slack.tests.test_check import TOKEN, chat_of
from integrations.trackers import checking as tracker_checking
from integrations.trackers.adapter.github import GitHubIssues
from integrations.trackers.adapter.wire import TrackerReply, TrackerRequest

SLACK_KINDS: Final = ("ratelimited", "server_error", "error", "fatal_error", "drop", "drop_before")
PAGER_KINDS: Final = ("ratelimited", "server_error", "forbidden", "error_after", "drop", "drop_before", "timeout")


def is_true(found: list[CheckResult], usual: list[CheckResult], *, limited: bool) -> None:
    """Compare the findings of a bad moment with the usual ones."""
    assert not [one.says for one in found if "automatically" in one.says]
    assert {one.says for one in found if one.level == "ok"} <= {one.says for one in usual}
    odd = [one for one in found if one not in usual]
    assert odd, "what could not be seen is said"
    if limited:
        assert not [one.says for one in found if one.level == "wrong"]
        assert all("Try again in a moment" in one.says for one in odd)


def slack_says(workspace: slack.FakeSlack) -> list[CheckResult]:
    given: Any = slack_setup.current()
    chat = chat_of(workspace)
    chat.identity = Identity(chat.wire)
    owner = workspace.person("owner").id
    with slack_current.using(chat):
        return list(findings(chat, given, base_url="https://fire.example", tell=owner))


@pytest.mark.django_db
@pytest.mark.parametrize("kind", SLACK_KINDS)
def test_slack(kind: str) -> None:
    workspace = slack.FakeSlack(bot_token=TOKEN)
    usual = slack_says(workspace)
    asked = {call.method for call in workspace.calls}
    assert {"auth.test", "conversations.list", "chat.postMessage"} <= asked
    for method in asked:
        workspace = slack.FakeSlack(bot_token=TOKEN)
        workspace.faults.add(kind, method=method)
        is_true(slack_says(workspace), usual, limited=kind == "ratelimited")


def pager_says(account: pagerduty.FakeAccount) -> list[CheckResult]:
    with pagerduty_current.using(pager_on(account)):
        return list(vendors.pagerduty())


def account() -> pagerduty.FakeAccount:
    made = pagerduty.demo()
    made.add_subscription(pagerduty_setup.webhook_url())
    return made


@pytest.mark.django_db
@pytest.mark.parametrize("kind", PAGER_KINDS)
def test_pagerduty(kind: str) -> None:
    made = account()
    usual = pager_says(made)
    paths = {call.path for call in made.calls}
    assert len(paths) > 3
    for path in paths:
        made = account()
        made.faults.add(kind, path=path)
        is_true(pager_says(made), usual, limited=kind == "ratelimited")


@pytest.mark.django_db
@pytest.mark.parametrize("status", [429, 401, 404, 502])
def test_a_tracker(status: int) -> None:
    def carrier(_: TrackerRequest) -> TrackerReply:
        return TrackerReply(status, b"{}", {"content-type": "application/json", "retry-after": "3"})

    given = tracker.read({"TRACKER": "github", "TRACKER_TOKEN": "t", "TRACKER_PROJECT": "acme/ops"})
    assert given is not None
    issues = GitHubIssues(given, carrier=carrier)
    (found, *_) = tracker_checking.findings(issues, given, at=timezone.now())
    is_true([found], [], limited=status == 429)

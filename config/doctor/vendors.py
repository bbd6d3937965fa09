"""Slack, PagerDuty and the issue tracker as configured, with the checks of `slack_check` and `pagerduty_check`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from django.utils import timezone

from incidents import sentences
from incidents.models import IncidentType
from integrations.check_result import CheckResult, note, wrong
from integrations.pagerduty import checking as pagerduty_checking
from integrations.pagerduty.adapter import current as pagerduty_current
from integrations.pagerduty.protocol import setup as pagerduty_setup
from integrations.pagerduty.webhooks import backlog
from integrations.slack import checking as slack_checking
from integrations.slack.adapter import current as slack_current
from integrations.slack.protocol import setup as slack_setup
from integrations.trackers import checking as tracker_checking
from integrations.trackers.adapter import current as tracker_current
from integrations.trackers.protocol import setup as tracker_setup
from workflows.models import GroupChange, GroupRule
from workflows.reconcile import retyping

WITHOUT_SLACK: Final = "Slack is not connected: SLACK_BOT_TOKEN is not set. The web and the terminal do everything."
WITHOUT_TRACKER: Final = "No issue tracker is connected: TRACKER is not set. Follow-ups stay in Firekind."
WITHOUT_PAGER: Final = "PagerDuty is not connected: PAGERDUTY_API_KEY is not set. No one is paged."


def slack() -> Iterator[CheckResult]:
    """Yield the findings about the app and its token."""
    given, chat = slack_setup.current(), slack_current.slack()
    if given is None or chat is None:
        yield note(WITHOUT_SLACK)
        return
    yield from slack_checking.findings(chat, given, base_url=slack_setup.base_url())


def groups() -> Iterator[CheckResult]:
    """Yield the user groups that cannot be updated; only writing one shows whether the app may."""
    rules = GroupRule.objects.filter(active=True)
    failed = [rule for rule in rules if rule.state == GroupRule.State.FAILED]
    for rule in failed:
        yield wrong(f"The user group {rule} is not kept: {rule.says}")
    written = GroupChange.objects.filter(rule__in=rules, error_code="").order_by("-at").first()
    if not failed and written is not None:
        yield CheckResult(f"The app may edit user groups: it last wrote {written.rule}.")
    elif rules and not failed:
        yield note("No user group was changed yet, so it is unknown whether the app may edit them.")


def types() -> Iterator[CheckResult]:
    """Yield what declaring an incident of any type would ask for in vain, as far as is known; types share a finding."""
    found: dict[str, tuple[str, list[str]]] = {}
    for type in IncidentType.objects.usable():
        for gap in retyping.preview_declare(type=type).gaps:
            found.setdefault(gap.key, (gap.says, []))[1].append(type.policy.name)
    for says, (_, *others) in found.values():
        same = f" The same goes for {sentences.enumerated(others)}." if others else ""
        yield note(f"{says}{same}")
    if not found:
        yield CheckResult("Everyone and everything that types name is available.")


def pagerduty() -> Iterator[CheckResult]:
    """Yield the findings about the key, the sender, the services, the webhooks and the backlog."""
    pager = pagerduty_current.pagerduty()
    if pager is None:
        yield note(WITHOUT_PAGER)
        return
    now = timezone.now()
    yield from pagerduty_checking.findings(pager, webhook_url=pagerduty_setup.webhook_url(), at=now)
    yield from backlog.findings()


def tracker() -> Iterator[CheckResult]:
    """Yield the findings about the token, the projects and the webhook."""
    given, found = tracker_setup.current(), tracker_current.tracker()
    if given is None or found is None:
        yield note(WITHOUT_TRACKER)
        return
    yield from tracker_checking.findings(found, given, at=timezone.now())

"""Builds what stands behind the ports from settings; the only place that does."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from django.conf import settings

from incidents.yaml_file import BadFile
from integrations.pagerduty import setup as pagerduty_setup
from integrations.pagerduty.client import PagerDutyPager
from integrations.pagerduty.route import KeptRoutes
from integrations.pagerduty.setup import Setup as PagerDutySetup
from integrations.profilers import sources
from integrations.profilers.profiler import ListedProfiler
from integrations.slack import setup
from integrations.slack.client import SlackChat
from integrations.slack.identity import Identity
from integrations.slack.setup import Setup
from integrations.slack.wire import Wire
from workflows.ports import Chat, Pager

log = logging.getLogger(__name__)


def chat() -> Chat | None:
    """Return the chat that settings name, one a process; None when Slack is left out."""
    return slack()


def profiler() -> ListedProfiler | None:
    """Return where profiles come from, by the operator's list; None when no list is named."""
    path = settings.FIREKIND.profile_sources_file
    return _profiler(path) if path else None


@lru_cache(maxsize=4)
def _profiler(path: Path) -> ListedProfiler:
    """Read the list once a process. A bad one captures nothing and says so; `manage.py check` names what is wrong."""
    try:
        listed = sources.read(path, environ=settings.FIREKIND.named)
    except BadFile as bad:
        says = "profiles are not captured, because the list of sources is not valid: %s"
        log.error(says, bad)  # noqa: TRY400  # the message names file, line and field: a traceback would bury it
        listed = ()
    return ListedProfiler(listed, environ=settings.FIREKIND.named)


def pager() -> Pager | None:
    """Return who rings people, one a process; None when PagerDuty is left out."""
    return pagerduty()


def pagerduty() -> PagerDutyPager | None:
    """Return the same as PagerDuty itself, for its doors. PagerDuty's client is loaded by the first request alone."""
    if _pager_instead:
        return _pager_instead[-1]
    given = pagerduty_setup.current()
    return _pagerduty(given) if given else None


@lru_cache(maxsize=4)
def _pagerduty(given: PagerDutySetup) -> PagerDutyPager:
    return PagerDutyPager(given, routes=KeptRoutes())


def slack() -> SlackChat | None:
    """Return the same as Slack itself, for its doors."""
    if _instead:
        return _instead[-1]
    given = setup.current()
    return _slack(given) if given else None


@contextmanager
def using(slack: SlackChat) -> Iterator[None]:
    """Put another workspace behind the doors for the length of a block."""
    _instead.append(slack)
    try:
        yield
    finally:
        _instead.remove(slack)


@contextmanager
def using_pager(pager: PagerDutyPager) -> Iterator[None]:
    """Put another PagerDuty account behind the doors for the length of a block."""
    _pager_instead.append(pager)
    try:
        yield
    finally:
        _pager_instead.remove(pager)


_instead: list[SlackChat] = []
_pager_instead: list[PagerDutyPager] = []


@lru_cache(maxsize=4)
def _slack(given: Setup) -> SlackChat:
    wire = Wire(api_url=given.api_url, token=given.bot_token)
    sandbox_url = str(settings.FIREKIND.sandbox_url)
    identity = Identity(wire, team_id=given.team_id, bot_user_id=given.bot_user_id, sandbox_url=sandbox_url)
    if not sandbox_url:
        identity.learn()
    admin = Wire(api_url=given.api_url, token=given.admin_token) if given.admin_token else None
    return SlackChat(wire, identity=identity, admin=admin)

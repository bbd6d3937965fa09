"""The workspace that settings name, one client a process, and another in its place for the length of a block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING

from django.conf import settings

from integrations.slack.protocol import setup
from integrations.slack.protocol.setup import Setup

if TYPE_CHECKING:  # the client brings Slack's SDK, which only those who call Slack load
    from integrations.slack.adapter.client import SlackChat


def slack() -> SlackChat | None:
    """Return Slack as settings name it; None when it is left out. The first that asks loads its library."""
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


_instead: list[SlackChat] = []


@lru_cache(maxsize=4)
def _slack(given: Setup) -> SlackChat:
    from integrations.slack.adapter.client import SlackChat
    from integrations.slack.adapter.identity import Identity
    from integrations.slack.adapter.wire import Wire

    wire = Wire(api_url=given.api_url, token=given.bot_token)
    sandbox_url = str(settings.FIREKIND.sandbox_url)
    identity = Identity(wire, team_id=given.team_id, bot_user_id=given.bot_user_id, sandbox_url=sandbox_url)
    if not sandbox_url:
        identity.learn()
    admin = Wire(api_url=given.api_url, token=given.admin_token) if given.admin_token else None
    return SlackChat(wire, identity=identity, admin=admin)

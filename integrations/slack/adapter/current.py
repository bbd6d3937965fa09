"""The configured workspace: one client per process, which a block can replace with another workspace's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING

from django.conf import settings

from integrations.slack.protocol import setup
from integrations.slack.protocol.setup import Setup

if TYPE_CHECKING:  # importing the client loads Slack's SDK, so only code that calls Slack does it
    from integrations.slack.adapter.client import SlackChat


def slack() -> SlackChat | None:
    """Return the configured Slack; None when it is left out. The first caller loads its library."""
    if _instead:
        return _instead[-1]
    given = setup.current()
    return _slack(given) if given else None


@contextmanager
def using(slack: SlackChat) -> Iterator[None]:
    """Use another workspace behind the doors for the length of a block."""
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

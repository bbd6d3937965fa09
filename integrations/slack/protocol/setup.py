"""The settings needed to talk to one workspace."""

from __future__ import annotations

from typing import Protocol

from django.conf import settings


class Setup(Protocol):
    """The settings of one workspace, from the environment."""

    def __hash__(self) -> int: ...
    @property
    def api_url(self) -> str: ...
    @property
    def bot_token(self) -> str: ...
    @property
    def signing_secret(self) -> str: ...
    @property
    def app_token(self) -> str: ...
    @property
    def admin_token(self) -> str: ...
    @property
    def announce_channel(self) -> str: ...
    @property
    def command(self) -> str: ...
    @property
    def channel_prefix(self) -> str: ...
    @property
    def team_id(self) -> str: ...
    @property
    def bot_user_id(self) -> str: ...
    @property
    def capture_reaction(self) -> str: ...


def current() -> Setup | None:
    """Return the configured workspace, or None when Slack is left out."""
    slack: Setup | None = settings.FIREKIND.slack
    return slack


def base_url() -> str:
    """Return the base URL of Firekind's pages."""
    return str(settings.FIREKIND.base_url)


def command() -> str:
    """Return the slash command that people type; the default is ``/incident``."""
    slack = current()
    return slack.command if slack else "/incident"

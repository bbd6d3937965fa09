"""The settings needed to talk to one PagerDuty account."""

from __future__ import annotations

from typing import Protocol

from django.conf import settings


class Setup(Protocol):
    """The settings of one account, from the environment."""

    def __hash__(self) -> int: ...
    @property
    def api_url(self) -> str: ...
    @property
    def api_key(self) -> str: ...
    @property
    def sender(self) -> str: ...
    @property
    def service(self) -> str: ...
    @property
    def webhook_secrets(self) -> tuple[str, ...]: ...
    @property
    def events_url(self) -> str: ...
    @property
    def routing_key(self) -> str: ...


def current() -> Setup | None:
    """Return the configured account, or None when PagerDuty is left out."""
    pagerduty: Setup | None = settings.FIREKIND.pagerduty
    return pagerduty


def webhook_url() -> str:
    """Return the URL that PagerDuty should send its webhooks to."""
    return f"{settings.FIREKIND.base_url}/pagerduty/webhook"

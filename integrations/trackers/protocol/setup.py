"""The settings needed to talk to one issue tracker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from django.conf import settings


class Setup(Protocol):
    """The settings of one tracker, from the environment. ``people`` maps emails to accounts."""

    @property
    def kind(self) -> str: ...
    @property
    def url(self) -> str: ...
    @property
    def token(self) -> str: ...
    @property
    def project(self) -> str: ...
    @property
    def private_project(self) -> str: ...
    @property
    def webhook_secrets(self) -> tuple[str, ...]: ...
    @property
    def people(self) -> Mapping[str, str]: ...


def current() -> Setup | None:
    """Return the configured tracker, or None when follow-ups stay in Firekind."""
    tracker: Setup | None = settings.FIREKIND.tracker
    return tracker


def webhook_url() -> str:
    """Return the URL that the tracker should send its webhooks to."""
    return f"{settings.FIREKIND.base_url}/tracker/webhook"

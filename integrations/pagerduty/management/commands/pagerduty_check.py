"""Check the PagerDuty setup."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from integrations.check_result import CheckResult, note, printed
from integrations.pagerduty.adapter import current
from integrations.pagerduty.checking import findings
from integrations.pagerduty.protocol import setup
from integrations.pagerduty.webhooks import inbox


class Command(BaseCommand):
    help = "Check the PagerDuty key, sender, services and webhook"

    def handle(self, *args: Any, **options: Any) -> None:
        """Print one sentence for each finding; end with exit code 1 when something is to be mended."""
        pager = current.pagerduty()
        if pager is None:
            raise CommandError("PAGERDUTY_API_KEY is not set: no one is paged.")
        found = findings(pager, webhook_url=setup.webhook_url(), at=timezone.now())
        printed(chain(found, _stuck()), self.stdout)


def _stuck() -> Iterator[CheckResult]:
    """Say what came by webhook and was not acted on, where there is any of it."""
    again, given_up = inbox.stuck()
    if again or given_up:
        says = f"Of the webhooks received, {again} are being retried and {given_up} failed."
        yield note(f"{says} See the rows of pagerduty_webhook and the worker's log.")

"""Check the PagerDuty setup."""

from __future__ import annotations

from itertools import chain
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from integrations.check_result import printed
from integrations.pagerduty.adapter import current
from integrations.pagerduty.checking import findings
from integrations.pagerduty.protocol import setup
from integrations.pagerduty.webhooks import backlog


class Command(BaseCommand):
    help = "Check the PagerDuty key, sender, services and webhook"

    def handle(self, *args: Any, **options: Any) -> None:
        """Print one sentence per result; exit with code 1 when something has to be fixed."""
        pager = current.pagerduty()
        if pager is None:
            raise CommandError("PAGERDUTY_API_KEY is not set: no one is paged.")
        found = findings(pager, webhook_url=setup.webhook_url(), at=timezone.now())
        printed(chain(found, backlog.findings()), self.stdout)

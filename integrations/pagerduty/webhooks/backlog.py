"""Report unprocessed webhooks as a result of the setup check."""

from __future__ import annotations

from collections.abc import Iterator

from integrations.check_result import CheckResult, note
from integrations.pagerduty.webhooks import inbox


def findings() -> Iterator[CheckResult]:
    """Yield how many there are, if any."""
    again, given_up = inbox.stuck()
    if again or given_up:
        says = f"Of the webhooks received, {again} are being retried and {given_up} failed."
        yield note(f"{says} See the rows of pagerduty_webhook and the worker's log.")

"""What came by webhook and was not acted on, as a check of the setup says it."""

from __future__ import annotations

from collections.abc import Iterator

from integrations.check_result import CheckResult, note
from integrations.pagerduty.webhooks import inbox


def findings() -> Iterator[CheckResult]:
    """Yield how much of it there is, if there is any."""
    again, given_up = inbox.stuck()
    if again or given_up:
        says = f"Of the webhooks received, {again} are being retried and {given_up} failed."
        yield note(f"{says} See the rows of pagerduty_webhook and the worker's log.")

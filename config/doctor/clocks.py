"""Our clock compared to those of the database and, by their last responses, the vendors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from django.db import connection
from django.utils import timezone

from integrations.check_result import CheckResult, note, wrong
from integrations.pagerduty.adapter import current as pagerduty_current
from integrations.slack.adapter import current as slack_current

APART_S: Final = 5.0
# Slack rejects signatures that are five minutes old; leases are taken over within seconds.
FAR_S: Final = 30.0


def findings() -> Iterator[CheckResult]:
    """Yield whether each clock that can be read agrees with ours."""
    for whose, ahead_s in _clocks():
        if ahead_s is not None:
            yield compared(whose, ahead_s)


def compared(whose: str, ahead_s: float) -> CheckResult:
    """Report how far a clock is ahead of ours; negative is behind."""
    if abs(ahead_s) < APART_S:
        return CheckResult(f"Our clock agrees with {whose}.")
    says = f"Our clock is {abs(ahead_s):.0f} s {'behind' if ahead_s > 0 else 'ahead of'} {whose}. Sync it with NTP."
    return wrong(says) if abs(ahead_s) >= FAR_S else note(says)


def _clocks() -> Iterator[tuple[str, float | None]]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        yield "the database", (cursor.fetchone()[0] - timezone.now()).total_seconds()
    chat, pager = slack_current.slack(), pagerduty_current.pagerduty()
    if chat is not None:
        yield "Slack", chat.wire.ahead_s
    if pager is not None:
        yield "PagerDuty", pager.wire.ahead_s

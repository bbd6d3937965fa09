"""Parse and format times as PagerDuty does."""

from __future__ import annotations

import math
from datetime import UTC, datetime

from integrations.pagerduty.fake.server.answers import ErrorAnswer


def iso(at: float) -> str:
    """Format a time to the second."""
    return datetime.fromtimestamp(math.floor(at), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def iso_ms(at: float) -> str:
    """Format a time to the millisecond, as webhooks do."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def iso_or_none(at: float | None) -> str | None:
    """Format a time that may be missing."""
    return None if at is None else iso(at)


def moment(text: str, *, code: int = 2004) -> float:
    """Parse a time, in UTC unless it has an offset. Raises ErrorAnswer with `code` if it cannot be parsed."""
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        raise ErrorAnswer(code, f"{text!r} is not a time") from None
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()

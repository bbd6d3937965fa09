"""Moments as PagerDuty writes and reads them."""

from __future__ import annotations

import math
from datetime import UTC, datetime

from integrations.pagerduty.fake.server.answers import ErrorAnswer


def iso(at: float) -> str:
    """Write a moment to the second."""
    return datetime.fromtimestamp(math.floor(at), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def iso_ms(at: float) -> str:
    """Write a moment to the millisecond, as webhooks do."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def iso_or_none(at: float | None) -> str | None:
    """Write a moment that may be missing."""
    return None if at is None else iso(at)


def moment(text: str, *, code: int = 2004) -> float:
    """Read a moment; what is none is refused with a code. Without an offset it is UTC."""
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        raise ErrorAnswer(code, f"{text!r} is not a time") from None
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()

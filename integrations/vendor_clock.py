"""How far a vendor's clock is ahead of ours, by the ``Date`` of an answer."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def ahead_s(date: str | None, *, at: datetime) -> float | None:
    """Return the seconds between a ``Date`` header and ``at``; None when there is none that can be read."""
    try:
        said = parsedate_to_datetime(date or "")
    except ValueError:
        return None
    return (said.replace(tzinfo=said.tzinfo or UTC) - at).total_seconds()

"""Measure how far a vendor's clock is ahead of ours, from the ``Date`` header of an answer."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def ahead_s(date: str | None, *, at: datetime) -> float | None:
    """Return the seconds from ``at`` to a ``Date`` header; None when the header is missing or cannot be parsed."""
    try:
        said = parsedate_to_datetime(date or "")
    except ValueError:
        return None
    return (said.replace(tzinfo=said.tzinfo or UTC) - at).total_seconds()

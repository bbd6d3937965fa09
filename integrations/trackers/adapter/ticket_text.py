"""Our words in a ticket apart from its title: the mark by which it is found, and the text once withdrawn."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

LABEL: Final = "firekind"
NEUTRAL_TITLE: Final = "Withdrawn"
NEUTRAL_TEXT: Final = "The text of this ticket was withdrawn."


def hidden(mark: str) -> str:
    """Return a mark as a comment, which trackers with Markdown store but do not show."""
    return f"<!-- firekind {mark} -->"


def utc(at: datetime) -> str:
    """Format a time for queries."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

"""The words of ours in a ticket besides its title: by what it is found again, and what stands there once withdrawn."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

LABEL: Final = "firekind"
NEUTRAL_TITLE: Final = "Withdrawn"
NEUTRAL_TEXT: Final = "The text of this ticket was withdrawn."


def hidden(mark: str) -> str:
    """Return a mark as a comment, which trackers that take Markdown keep and do not show."""
    return f"<!-- firekind {mark} -->"


def utc(at: datetime) -> str:
    """Say a time as queries take it."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

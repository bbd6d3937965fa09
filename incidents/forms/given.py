"""Numbers in URLs and forms."""

from __future__ import annotations

from collections.abc import Iterable

MOST_DIGITS = 15  # far below the maximum of PostgreSQL's bigint


def number(text: str | None) -> int | None:
    """Parse a whole number that is not negative; None for anything else."""
    return int(text) if text and len(text) <= MOST_DIGITS and text.isascii() and text.isdecimal() else None


def numbers(texts: Iterable[str]) -> list[int]:
    """Return the whole numbers among some texts."""
    return [n for text in texts if (n := number(text)) is not None]

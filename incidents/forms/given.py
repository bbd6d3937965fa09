"""Numbers in URLs and forms."""

from __future__ import annotations

from collections.abc import Iterable

MOST_DIGITS = 15  # far below where PostgreSQL's bigint ends


def number(text: str | None) -> int | None:
    """Return a whole number from 0; None for anything else."""
    return int(text) if text and len(text) <= MOST_DIGITS and text.isascii() and text.isdecimal() else None


def numbers(texts: Iterable[str]) -> list[int]:
    """Return the whole numbers among some texts."""
    return [n for text in texts if (n := number(text)) is not None]

"""Durations and counts as load testers print them. Pure."""

from __future__ import annotations

import re

from evidence.measures.loadtest import MOST_MS
from evidence.profile.errors import BadProfile

MS = {
    "h": 3.6e6, "m": 6e4, "min": 6e4, "s": 1e3, "sec": 1e3, "secs": 1e3, "ms": 1.0, "us": 1e-3, "µs": 1e-3, "μs": 1e-3,
    "ns": 1e-6,
}  # fmt: skip
PART = re.compile(r"(\d+(?:\.\d+)?(?:e[-+]?\d+)?)\s*(h|min|ms|m|secs|sec|s|us|µs|μs|ns)")


def ms(said: str) -> float:
    """Return the milliseconds of a duration such as ``1m2.5s``, ``635.91us`` or ``0.43 secs``.

    Raises BadProfile for anything else.
    """
    said = said.strip()
    parts = PART.findall(said)
    if not parts or PART.sub("", said).strip():
        raise BadProfile(f"“{said[:40]}” isn't a duration")
    total = sum(float(value) * MS[unit] for value, unit in parts)
    if not total < MOST_MS:
        raise BadProfile(f"“{said[:40]}” is longer than any test")
    return round(total, 9)


def found(pattern: re.Pattern[str], text: str) -> str | None:
    """Return the first group of the first match, or None."""
    match = pattern.search(text)
    return match[1] if match else None


def whole(said: str | None) -> int | None:
    """Return a whole number of at most 15 digits, or None."""
    return int(said) if said and said.isascii() and said.isdecimal() and len(said) <= 15 else None


def real(said: str | None) -> float | None:
    """Return a plain decimal number, or None."""
    return float(said) if said and re.fullmatch(r"\d{1,15}(\.\d{1,15})?", said) else None


def finite(value: object) -> float | None:
    """Return a finite JSON number, or None."""
    return float(value) if isinstance(value, int | float) and abs(value) < 1e15 else None


def pieces(text: str, begins: re.Pattern[str]) -> list[str]:
    """Cut a text where each report begins; what precedes the first one stays with it."""
    starts = [match.start() for match in begins.finditer(text)] or [0]
    starts[0] = 0
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]

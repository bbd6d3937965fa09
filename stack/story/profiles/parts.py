"""Whole numbers that look measured and add up exactly."""

from __future__ import annotations

import gzip
import random
from collections.abc import Mapping


def chance(seed: str) -> random.Random:
    """Return a random generator that gives the same numbers every time."""
    return random.Random(seed)  # noqa: S311 (the same every time is what it is for, nothing secret)


def split(total: int, count: int, *, by: random.Random, spread: float = 0.4) -> list[int]:
    """Split a total into that many positive parts, unequal by about `spread` (0..1), which add up to it."""
    weights = [1 - spread + 2 * spread * by.random() for _ in range(count)]
    scale = (total - count) / sum(weights)
    parts = [1 + int(weight * scale) for weight in weights]
    parts[-1] += total - sum(parts)
    return parts


def of_thousand(shares: Mapping[tuple[str, ...], int], *, total: int) -> dict[tuple[str, ...], int]:
    """Return each stack's share of a total, from thousandths that add up to 1,000."""
    assert sum(shares.values()) == 1000, "shares are thousandths of one whole"
    assert total % 1000 == 0, "a thousandth of the total is a whole number"
    return {stack: thousandths * (total // 1000) for stack, thousandths in shares.items()}


def packed(text: str) -> bytes:
    """Compress a text so that the same text gives the same bytes."""
    return gzip.compress(text.encode(), mtime=0)

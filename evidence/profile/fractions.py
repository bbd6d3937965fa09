"""Counts that are not whole, kept as whole numbers of a fraction: *thousandths of samples*. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

SCALES = {"thousandths": 10**3, "millionths": 10**6, "billionths": 10**9}
_FRACTION = re.compile(rf"({'|'.join(SCALES)}) of (.+)", re.DOTALL)


def whole(unit: str) -> tuple[int, str]:
    """Return how many of a unit are one of what it is a fraction of, and what that is: 1 and itself for any other."""
    found = _FRACTION.fullmatch(unit)
    return (SCALES[found[1]], found[2]) if found else (1, unit)


def finest(units: Sequence[str]) -> tuple[str, list[int]]:
    """Return the unit that all can be said in, and how many of it are one of each."""
    scales = [whole(unit)[0] for unit in units]
    most = max(scales)
    return units[scales.index(most)], [most // scale for scale in scales]

"""Counts that are not whole, stored as whole numbers of a fraction: *thousandths of samples*. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

SCALES = {"thousandths": 10**3, "millionths": 10**6, "billionths": 10**9}
_FRACTION = re.compile(rf"({'|'.join(SCALES)}) of (.+)", re.DOTALL)


def whole(unit: str) -> tuple[int, str]:
    """Return how many of a fractional unit make one whole, and the whole unit; for any other unit, 1 and itself."""
    found = _FRACTION.fullmatch(unit)
    return (SCALES[found[1]], found[2]) if found else (1, unit)


def finest(units: Sequence[str]) -> tuple[str, list[int]]:
    """Return the unit in which all can be expressed, and how many of it each one is."""
    scales = [whole(unit)[0] for unit in units]
    most = max(scales)
    return units[scales.index(most)], [most // scale for scale in scales]

"""Amounts as people read them, for pages and pictures; same as ``static/firekind/flame/words.js``. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

from evidence.profile import fractions

TIMES = ((3600e9, "h"), (60e9, "min"), (1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
SIZES = ((2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B"))


def amount(value: int, unit: str) -> str:
    """Format a value with its unit: ``1.23 s``, ``12.3 MiB``, ``12,345 samples``."""
    if unit == "nanoseconds":
        return _scaled(value, TIMES) if value else "0 s"
    if unit == "bytes":
        return _scaled(value, SIZES)
    scale, of = fractions.whole(unit)
    if scale > 1:
        return f"{_part(value / scale)} {of}"
    word = unit[:-1] if abs(value) == 1 and unit.endswith("s") else unit
    return f"{value:,} {word}".strip()


def difference(value: int, unit: str) -> str:
    """Format how much an amount changed, with its sign: ``+1.23 s``, ``−12 samples``."""
    return f"{'+' if value > 0 else '−' if value < 0 else '±'}{amount(abs(value), unit)}"


def share(part: float) -> str:
    """Format a share of the whole with as many digits as matter: never a false 0 % or 100 %."""
    value = 100 * part
    if value == 0:
        return "0 %"
    if abs(value) < 0.01:
        return "< 0.01 %" if value > 0 else "> −0.01 %"
    if 99.95 <= abs(value) < 100:
        return "> 99.9 %" if value > 0 else "< −99.9 %"
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{_fixed(value, digits)} %".replace("-", "−")


def rough(part: float) -> str:
    """Format a share of a few samples as a whole number, because further digits would mean nothing."""
    value = abs(100 * part)
    return f"{'< 1' if 0 < value < 0.5 else '> 99' if 99.5 <= value < 100 else _fixed(value, 0)} %"


def percent(share: float) -> str:
    """Format a share for a sentence: whole above ten, one decimal below and near all, never a false zero or all."""
    value = 100 * share
    if 0 < value < 0.1:
        return "under 0.1 %"
    if 99.95 <= value < 100:
        return "over 99.9 %"
    return f"{_fixed(value, 1 if value < 9.95 or 99.5 <= value < 100 else 0).removesuffix('.0')} %"


def first(said: str) -> str:
    """Capitalise words for the beginning of a sentence: *Over 99.9 %*."""
    return said[:1].upper() + said[1:]


def points(difference: float, *, is_rough: bool = False) -> str:
    """Format a difference of two shares in percentage points, with its sign; for a few samples, a whole number."""
    value = abs(100 * difference)
    sign = "+" if difference > 0 else "−" if difference < 0 else "±"
    if is_rough:
        return "< 1 pp" if 0 < value < 0.5 else f"{sign}{_fixed(value, 0)} pp"
    if 0 < value < 0.01:
        return "< 0.01 pp" if difference > 0 else "> −0.01 pp"
    return f"{sign}{_fixed(value, 1 if value >= 10 else 2)} pp"


def _part(value: float) -> str:
    """Format a fractional count with as many digits as matter."""
    if 0 < abs(value) < 0.01:
        return "< 0.01"
    digits = 0 if abs(value) >= 100 or not value else 1 if abs(value) >= 10 else 2
    return f"{Decimal(_fixed(value, digits)):,}"


def _scaled(value: int, steps: Sequence[tuple[float, str]]) -> str:
    size, word = next((step for step in steps if abs(value) >= step[0]), steps[-1])
    shown = value / size
    digits = 0 if abs(shown) >= 100 or size == 1 else 1 if abs(shown) >= 10 else 2
    return f"{_fixed(shown, digits)} {word}"


def _fixed(value: float, digits: int) -> str:
    """Format a number as JavaScript's ``toFixed`` does: the nearest one, halves away from zero."""
    return str(Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))

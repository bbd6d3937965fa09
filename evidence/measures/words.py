"""Numbers as people read them: three figures, thousands separated, with units. Pure."""

from __future__ import annotations

import math

MINUS = "−"
TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
SIZES = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
PLACED = frozenset({"with", "without", "on", "in", "after", "before", "during", "while", "at", "by"})


def number(value: float) -> str:
    """Format a number with three figures, whole ones in full: ``0.412``, ``50.3``, ``2,030``, ``73,788``."""
    value = float(f"{value:.12g}")  # binary sums leave rounding errors
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    if value == int(value):
        return f"{int(value):,}".replace("-", MINUS)
    return rounded(value, places=max(0, 2 - math.floor(math.log10(abs(float(f"{value:.3g}"))))))


def rounded(value: float, *, places: int) -> str:
    """Format a number with this many decimal places, at most nine."""
    return f"{value:,.{min(places, 9)}f}".replace("-", MINUS)


def seconds(value: float) -> str:
    """Format a duration given in seconds in a suitable unit: ``50.3 µs``."""
    factor, unit = next(((one, name) for one, name in TIMES if abs(value) >= one * 0.99995), TIMES[-1])
    return f"{number(value / factor)} {unit}" if value else "0 s"


def milliseconds(value: float) -> str:
    """Format a latency always in milliseconds, so that a column of them can be compared: ``2,030 ms``."""
    return f"{number(float(f'{value:.3g}'))} ms" if abs(value) < 1000 else f"{value:,.0f} ms"


def size(value: float) -> str:
    """Format a number of bytes: ``73,788 B`` in full, above a megabyte ``12.4 MiB``."""
    if abs(value) < SIZES[1][0]:
        return f"{number(value)} B"
    factor, unit = next((one, name) for one, name in SIZES if abs(value) >= one)
    return f"{number(value / factor)} {unit}"


def share(value: float, *, sign: bool = False) -> str:
    """Format a share of one in per cent: ``36 %``, ``7.7 %``, ``0.22 %``; with its sign ``+2.1 %``, ``−7.7 %``."""
    percent = abs(value) * 100
    if 0 < percent < 0.005:
        return "< 0.01 %" if value > 0 else f"> {MINUS}0.01 %"
    places = 0 if percent >= 1000 else 1 if percent >= 1 else 2
    said = f"{percent:,.{places}f}".removesuffix(".0").removesuffix(".00")
    if said == "100" and percent < 100:
        said = f"{min(percent, 99.999):.3f}"  # almost all is not all
    plus = MINUS if value < 0 else "+"
    return f"{plus if (sign and said != '0') or value < 0 else ''}{said} %"


def p_value(p: float) -> str:
    """Format how likely chance alone explains a difference: ``p = 0.012``."""
    return f"p = {p:.3f}"


def listed(words: list[str], *, most: int = 3) -> str:
    """List a few things, and how many more there are."""
    shown = ", ".join(words[:most])
    return f"{shown} and {len(words) - most} more" if len(words) > most else shown


def beside(label: str) -> str:
    """Say which side something is on: *with keep-alive*, *after the fix*."""
    return label if label.partition(" ")[0].lower() in PLACED else f"with {label}"

"""Convert profilers' units into ours: whole nanoseconds, bytes, samples, objects, events. Pure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evidence.profile import fractions
from evidence.profile.errors import BadProfile
from evidence.profile.stacks import SampleType, Stacks

# As written -> how many of ours, and our word.
UNITS: dict[str, tuple[int, str]] = {
    **dict.fromkeys(("ns", "nanosecond", "nanoseconds"), (1, "nanoseconds")),
    **dict.fromkeys(("us", "µs", "μs", "microsecond", "microseconds"), (1_000, "nanoseconds")),
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), (1_000_000, "nanoseconds")),
    **dict.fromkeys(("s", "sec", "second", "seconds"), (1_000_000_000, "nanoseconds")),
    **dict.fromkeys(("min", "minute", "minutes"), (60_000_000_000, "nanoseconds")),
    **dict.fromkeys(("h", "hour", "hours"), (3_600_000_000_000, "nanoseconds")),
    **dict.fromkeys(("b", "byte", "bytes", "by"), (1, "bytes")),
    **dict.fromkeys(("kb", "kib", "kilobyte", "kilobytes"), (1 << 10, "bytes")),
    **dict.fromkeys(("mb", "mib", "megabyte", "megabytes"), (1 << 20, "bytes")),
    **dict.fromkeys(("gb", "gib", "gigabyte", "gigabytes"), (1 << 30, "bytes")),
    **dict.fromkeys(("tb", "tib", "terabyte", "terabytes"), (1 << 40, "bytes")),
    **dict.fromkeys(("pb", "pib", "petabyte", "petabytes"), (1 << 50, "bytes")),
    **dict.fromkeys(("sample", "samples"), (1, "samples")),
    **dict.fromkeys(("object", "objects"), (1, "objects")),
    **dict.fromkeys(("", "none", "1", "count", "counts", "event", "events"), (1, "events")),
}
# Formats that cannot state their unit, and sample type names that follow the unit.
UNTOLD = {"folded", "bpf stacks"}
UNNAMED = {"samples"}
COUNTS = "events"  # may count anything
NAMES = {"nanoseconds": "time", "bytes": "memory", "objects": "objects"}
_MOST = 1 << 63


def ours(unit: str) -> tuple[int, str]:
    """Return how many of our unit one ``unit`` is, and our word for it; an unknown unit is unchanged."""
    return UNITS.get(unit.strip().lower(), (1, unit.strip()))


def told(stacks: Stacks, unit: str) -> Stacks:
    """Give values with an unknown unit the one that the sender states.

    Only folded and bpf stacks cannot state theirs, except in dialects that have just one; for other formats, a
    differing unit of the sender's is ignored, and a warning says so. Counts with fractions become whole numbers of our
    unit, rounded half up; if the unit is the sender's own, they stay thousandths of it, or less. Raises ``BadProfile``
    if the values no longer fit in 64 bits.
    """
    if not unit:
        return stacks
    if stacks.format not in UNTOLD or "dialect" in stacks.about:
        return _unused(stacks, unit)
    times, word = ours(unit)
    if times * max(stacks.totals, default=0) >= _MOST:
        raise BadProfile(f"The values are too large to be {unit}")
    scale = int(stacks.about.get("scale", 1))
    if times == 1 and scale > 1:
        types = tuple(_in_fractions(kind, word) for kind in stacks.sample_types)
        return replace(stacks, sample_types=types)
    types = tuple(SampleType(_renamed(kind.name, word), word) for kind in stacks.sample_types)
    about = {key: value for key, value in stacks.about.items() if key != "scale"}
    return replace(
        stacks, sample_types=types, values=(stacks.values * np.int64(times) + scale // 2) // scale, about=about
    )


def _unused(stacks: Stacks, unit: str) -> Stacks:
    """Warn that a file states a different unit than its sender."""
    counted = [fractions.whole(kind.unit)[1] for kind in stacks.sample_types]
    if ours(unit)[1] in {*counted, COUNTS}:
        return stacks
    says = f"The unit {unit} isn't used: the file says itself what it counts ({', '.join(dict.fromkeys(counted))})."
    return replace(stacks, about={**stacks.about, "caution": f"{stacks.about.get('caution', '')} {says}".strip()})


def _renamed(name: str, unit: str) -> str:
    """Return the name of what is counted, if *samples* is no longer right."""
    return NAMES.get(unit, unit) if name in UNNAMED else name


def _in_fractions(kind: SampleType, unit: str) -> SampleType:
    return SampleType(_renamed(kind.name, unit), kind.unit.replace("samples", unit))

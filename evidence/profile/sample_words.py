"""What a sample type counts, in words: *CPU samples*, *CPU time*, *allocated bytes*. Pure."""

from __future__ import annotations

import re

from evidence.profile import fractions
from evidence.profile.stacks import SampleType

# perf's names for clocks and cycle counters; the group names the core type of a hybrid processor.
CPU_EVENT = re.compile(r"^(?:(cpu_\w+)/)?(?:cpu-clock|task-clock|cycles|cpu-cycles)(?:[:/]\w*)?(?: samples)?$")
KNOWN = {
    ("cpu", "nanoseconds"): "CPU time",
    ("cpu_time", "nanoseconds"): "CPU time",
    ("cpu", "samples"): "CPU samples",
    ("samples", "samples"): "samples",
    ("samples", "objects"): "samples",
    ("wall", "nanoseconds"): "wall time",
    ("off_cpu", "nanoseconds"): "off-CPU time",
    ("alloc_space", "bytes"): "allocated bytes",
    ("alloc_objects", "objects"): "allocations",
    ("alloc_samples", "samples"): "allocation samples",
    ("inuse_space", "bytes"): "bytes in use",
    ("inuse_objects", "objects"): "objects in use",
    ("freed memory", "bytes"): "bytes of memory freed",
    ("Ir", "events"): "instructions",
    ("contentions", "contentions"): "contentions",
    ("delay", "nanoseconds"): "wait time",
    ("goroutine", "goroutines"): "goroutines",
    ("threadcreate", "threads"): "threads",
}


def of(kind: SampleType) -> str:
    """Name what is counted: *CPU samples*, *CPU time*, *allocated bytes*."""
    kind = SampleType(kind.name, fractions.whole(kind.unit)[1])  # shares do not depend on fractions
    ticks = CPU_EVENT.match(kind.name)
    if ticks:
        where = f" of {ticks[1]}" if ticks[1] else ""
        return f"CPU {kind.unit.replace('nanoseconds', 'time').replace('events', 'cycles')}{where}"
    return KNOWN.get((kind.name, kind.unit)) or _plainly(_spaced(kind.name), kind)


def _spaced(name: str) -> str:
    """Split a name into words, except a tracepoint's, which people look up verbatim: *sched:sched_switch*."""
    return name if ":" in name else name.replace("_", " ")


def _plainly(name: str, kind: SampleType) -> str:
    """Name anything else by its sample type and unit."""
    unit = kind.unit
    if name.endswith(f" {unit}"):
        return name
    if unit == "nanoseconds":
        return name if "time" in name else f"{name.removeprefix('samples')} time".lstrip()
    if unit in {"samples", "count"}:
        return "samples" if name in {"samples", ""} else f"{name} samples".replace("samples samples", "samples")
    if unit == "events":
        return "events" if name in {"count", "events"} else f"{kind.name} events"
    if unit == "objects":
        return name if name.endswith("s") else f"{name} objects"
    return name if unit == name else f"{unit} of {name}"

"""Java Flight Recorder, as the JDK and async-profiler write it.

What events count differs, so each kind is a sample type of its own: samples of threads that run, of threads in native
code, of wall-clock time, bytes allocated, time parked or waiting for a lock.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from evidence.formats import Buffer
from evidence.formats.base.gather import Gather
from evidence.formats.jfr import execution
from evidence.formats.jfr.chunk import MAGIC, Chunk, Class
from evidence.formats.jfr.traces import Stacktraces
from evidence.profile.claims import Certainty, Claim
from evidence.profile.errors import BadProfile, NotRecognised
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.stacks import SampleType, Stacks

NAME = "jfr"
NOTHING = (
    "This recording has no events with stacks that we support. Record with `settings=profile`, or use async-profiler."
)
LABELS = 100


class Counts(NamedTuple):
    """What an event counts: how much, by the first of ``fields`` that says it, and that it happened, as ``each``."""

    type: SampleType | None = None
    fields: tuple[str, ...] = ()
    each: SampleType | None = None


CPU, WALL = SampleType("cpu", "samples"), SampleType("wall", "samples")
CPU_TIME = SampleType("cpu_time", "nanoseconds")
ALLOCATED, TLAB = SampleType("alloc_space", "bytes"), SampleType("alloc_tlab", "bytes")
OBJECTS, TLAB_OBJECTS = SampleType("alloc_objects", "objects"), SampleType("alloc_tlab_objects", "objects")
# What is called otherwise where nothing else in the recording has that name.
ALONE = {CPU_TIME: SampleType("cpu", "nanoseconds"), TLAB: ALLOCATED, TLAB_OBJECTS: OBJECTS}


def _time(name: str, each: str = "events") -> Counts:
    return Counts(SampleType(name, "nanoseconds"), ("duration",), SampleType(f"{name}_{each}", each))


# Event -> what it counts. The first type that a recording holds is its default.
EVENTS: dict[str, Counts] = {
    "jdk.ExecutionSample": Counts(each=CPU),
    "jdk.CPUTimeSample": Counts(CPU_TIME, ("samplingPeriod",)),
    "profiler.WallClockSample": Counts(WALL, ("samples",)),
    "jdk.NativeMethodSample": Counts(each=SampleType("native", "samples")),
    "jdk.ObjectAllocationSample": Counts(ALLOCATED, ("weight",), OBJECTS),
    # The object took a new buffer: on average that many bytes were allocated since the last such event.
    "jdk.ObjectAllocationInNewTLAB": Counts(TLAB, ("tlabSize", "allocationSize"), TLAB_OBJECTS),
    "jdk.ObjectAllocationOutsideTLAB": Counts(TLAB, ("allocationSize",), TLAB_OBJECTS),
    "profiler.LiveObject": Counts(
        SampleType("inuse_space", "bytes"), ("allocationSize",), SampleType("inuse_objects", "objects")
    ),
    "profiler.Malloc": Counts(SampleType("malloc_space", "bytes"), ("size",), SampleType("malloc_objects", "objects")),
    "jdk.JavaMonitorEnter": _time("lock", "contentions"),
    "jdk.ThreadPark": _time("park", "contentions"),
    "jdk.JavaMonitorWait": _time("wait"),
    "jdk.ThreadSleep": _time("sleep"),
    "jdk.SocketRead": _time("socket"),
    "jdk.SocketWrite": _time("socket"),
    "jdk.FileRead": _time("file"),
    "jdk.FileWrite": _time("file"),
}
NANOSECONDS = 1_000_000_000
Threads = defaultdict[str, list[int]]
# What one event counts: (sample type, stack trace, thread) -> how much.
Counted = dict[tuple[SampleType, int, int], int]


def claim(head: bytes) -> Claim | None:
    """Tell by the first bytes of a chunk."""
    return Claim(Certainty.SURE, "it begins with FLR, as each chunk does") if head.startswith(MAGIC) else None


def read(data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
    """Read the events that have stacks. Raises ``BadProfile`` naming the byte, ``TooMuch``, ``NotRecognised``."""
    chunks: list[tuple[Chunk, Counted]] = []
    at = 0
    while at < len(data):
        chunk = Chunk(data, at)
        chunks.append((chunk, _counted(chunk)))
        at = chunk.end
    met = dict.fromkeys(kind for _, counted in chunks for kind, _, _ in counted)
    types = [kind for kind in dict.fromkeys([*(CPU, WALL), *_known(), *met]) if kind in met]
    if not types:
        raise NotRecognised(NOTHING)
    gather = Gather([_shown(kind, types) for kind in types], limits=limits)
    about: dict[str, Any] = {"duration_ns": sum(chunk.duration_ns for chunk, _ in chunks)}
    threads: Threads = defaultdict(lambda: [0] * len(types))
    truncated = sum(_pour(chunk, counted, types, gather, threads) for chunk, counted in chunks)
    about |= {"truncated": truncated} if truncated else {}
    largest = sorted(threads.items(), key=lambda item: (-max(item[1]), item[0]))
    about |= {"labels": {"thread": dict(largest[:LABELS])}} if threads else {}
    return gather.stacks(NAME, about=about)


def _known() -> list[SampleType]:
    """Return all types that events count: how much first, then how often."""
    amounts = [counts.type or counts.each for counts in EVENTS.values()]
    return [kind for kind in [*amounts, *(counts.each for counts in EVENTS.values())] if kind]


def _shown(kind: SampleType, types: Sequence[SampleType]) -> SampleType:
    """Call a type plainly *allocated* or *cpu*, unless another one of that name is in the recording too."""
    plain = ALONE.get(kind, kind)
    return kind if plain.name in {one.name for one in types} else plain


def _counted(chunk: Chunk) -> Counted:
    """Return what the events of a chunk count, by sample type, stack and thread."""
    counted: Counted = Counter()
    known = {key: found for key, found in chunk.classes.items() if found.name in EVENTS}
    executed: dict[tuple[str, int, int], int] = Counter()
    sampled = execution.Sampled(chunk)
    for kind, cursor in chunk.events():
        if kind in known:
            found, counts = known[kind], EVENTS[known[kind].name]
            event = chunk.reader(kind)(cursor)
            stack, thread = _key(event, found, "stackTrace"), _key(event, found, "sampledThread", "eventThread")
            if counts.each == CPU:
                executed[sampled.state(event, found), stack, thread] += 1
                continue
            if counts.each:
                counted[counts.each, stack, thread] += 1
            if counts.type:
                amount = _value(event, found, counts, hertz=chunk.hertz, where=cursor.where)
                counted[counts.type, stack, thread] += amount
        elif kind in sampled.settings:
            sampled.note(chunk.reader(kind)(cursor), chunk.classes[kind])
    types = {state: sampled.type(state, {one for one, _, _ in executed}) for state, _, _ in executed}
    for (state, stack, thread), times in executed.items():
        counted[types[state], stack, thread] += times
    chunk.forget()
    return counted


def _key(event: tuple[Any, ...], found: Class, *names: str) -> int:
    """Return the first of some fields that is the key of a constant, 0 without one."""
    values = (event[place] for name in names if (place := found.place(name)) >= 0)
    return next((value for value in values if isinstance(value, int)), 0)


def _value(event: tuple[Any, ...], found: Class, counts: Counts, *, hertz: int, where: str) -> int:
    for name in counts.fields:
        value = event[found.place(name)] if found.place(name) >= 0 else 0
        if not isinstance(value, int) or value < 0:
            raise BadProfile(f"Event {found.name} has no numeric {name}", where=where)
        if value:
            # Durations are in ticks of the machine's clock; a period is in nanoseconds already.
            return value * NANOSECONDS // hertz if name == "duration" else value
    return 0


def _pour(chunk: Chunk, counted: Counted, types: Sequence[SampleType], gather: Gather, threads: Threads) -> int:
    """Add the samples of a chunk; return how many events' stacks the recorder cut off."""
    stacktraces = Stacktraces(chunk, gather)
    stacks: dict[int, list[int]] = defaultdict(lambda: [0] * len(types))
    for (kind, stack, thread), value in counted.items():
        place = types.index(kind)
        stacks[stack][place] += value
        threads[stacktraces.thread(thread) or f"thread {thread}"][place] += value
    truncated = 0
    for stack, values in stacks.items():
        codes, cut = stacktraces.codes(stack)
        truncated += cut
        gather.add(codes, values, where=f"stack {stack}")
    return truncated

"""What the events of a JFR chunk count: for which sample type, stack and thread."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from evidence.formats.jfr import events, execution
from evidence.formats.jfr.chunk import Chunk
from evidence.profile.errors import BadProfile
from evidence.profile.stacks import Ints, SampleType


class Counts(NamedTuple):
    """What an event counts: an amount, the first of ``fields`` that is set, and its occurrence, as ``each``."""

    type: SampleType | None = None
    fields: tuple[str, ...] = ()
    each: SampleType | None = None


CPU, WALL = SampleType("cpu", "samples"), SampleType("wall", "samples")
CPU_TIME = SampleType("cpu_time", "nanoseconds")
ALLOCATED, TLAB = SampleType("alloc_space", "bytes"), SampleType("alloc_tlab", "bytes")
# Recorders skip most allocations and weight those that they keep, so their number is not a number of objects.
ALLOCATIONS, TLABS = SampleType("alloc_samples", "samples"), SampleType("alloc_tlab_samples", "samples")
# The plain name of a type if no other type in the recording has that name.
ALONE = {CPU_TIME: SampleType("cpu", "nanoseconds"), TLAB: ALLOCATED, TLABS: ALLOCATIONS}


def _time(name: str, each: str = "events") -> Counts:
    return Counts(SampleType(name, "nanoseconds"), ("duration",), SampleType(f"{name}_{each}", each))


# Event -> what it counts. The first type that occurs in a recording is its default.
EVENTS: dict[str, Counts] = {
    "jdk.ExecutionSample": Counts(each=CPU),
    "jdk.CPUTimeSample": Counts(CPU_TIME, ("samplingPeriod",)),
    "profiler.WallClockSample": Counts(WALL, ("samples",)),
    "jdk.NativeMethodSample": Counts(each=SampleType("native", "samples")),
    "jdk.ObjectAllocationSample": Counts(ALLOCATED, ("weight",), ALLOCATIONS),
    # The object took a new buffer: on average that many bytes were allocated since the last such event.
    "jdk.ObjectAllocationInNewTLAB": Counts(TLAB, ("tlabSize", "allocationSize"), TLABS),
    "jdk.ObjectAllocationOutsideTLAB": Counts(TLAB, ("allocationSize",), TLABS),
    "profiler.LiveObject": Counts(
        SampleType("inuse_space", "bytes"), ("allocationSize",), SampleType("inuse_samples", "samples")
    ),
    "profiler.Malloc": Counts(SampleType("malloc_space", "bytes"), ("size",), SampleType("malloc_samples", "samples")),
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


class Tally(NamedTuple):
    """How much was counted for which stack in which thread, in columns; a pair of them may occur more than once."""

    stacks: Ints
    threads: Ints
    amounts: Ints  # Python integers if their sum does not fit in 64 bits


# What events count: sample type -> how much, event by event.
Counted = dict[SampleType, list[Tally]]
STACK, STATE, THREADS = "stackTrace", "state", ("sampledThread", "eventThread")
MOST = (1 << 63) - 1


def counted(chunk: Chunk) -> Counted:
    """Return what the events of a chunk count, by sample type, stack and thread.

    Raises ``BadProfile`` for malformed content.
    """
    names = {key: found.name for key, found in chunk.classes.found.items()}
    wanted = [key for key, name in names.items() if name in EVENTS or name == execution.SETTING]
    counted: Counted = defaultdict(list)
    executed: dict[str, list[Tally]] = defaultdict(list)
    sampled = execution.Sampled(chunk)
    for kind, at in events.places(chunk, wanted).items():
        counts = EVENTS.get(names[kind])
        if counts is None:
            sampled.note(chunk, kind, at)
            continue
        found = events.columns(chunk, kind, at, (STACK, *THREADS, STATE, *counts.fields))
        none = np.zeros(len(at), dtype=np.int64)
        keys = [found.get(STACK, none), next((found[name] for name in THREADS if name in found), none)]
        if counts.each == CPU:
            states = found.get(STATE)
            groups = Groups([*keys, none if states is None else states])
            for state, tally in _by_state(groups, sampled.state if states is not None else lambda _: ""):
                executed[state].append(tally)
            continue
        groups = Groups(keys)
        stacks, threads = groups.keys
        if counts.each:
            counted[counts.each].append(Tally(stacks, threads, groups.sizes))
        if counts.type:
            amounts = groups.sums(_amounts(chunk, kind, at, found, counts.fields))
            counted[counts.type].append(Tally(stacks, threads, amounts))
    for met, tallies in executed.items():
        counted[sampled.type(met, set(executed))] += tallies
    chunk.forget()
    return counted


def _by_state(groups: Groups, said: Callable[[int], str]) -> Iterator[tuple[str, Tally]]:
    """Split groups by the thread state, in order of appearance."""
    stacks, threads, states = groups.keys
    places: dict[str, int] = {}
    known = {state: places.setdefault(said(state), len(places)) for state in dict.fromkeys(states.tolist())}
    numbers = np.array([known[state] for state in states.tolist()])
    order = np.argsort(numbers, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1)
    for state, chosen in zip(places, parts, strict=True):
        yield state, Tally(stacks[chosen], threads[chosen], groups.sizes[chosen])


def _amounts(chunk: Chunk, kind: int, at: Ints, found: dict[str, Ints], fields: Sequence[str]) -> Ints:
    """Return each event's amount: the first of some fields that is not 0."""
    amounts = np.zeros(len(at), dtype=np.int64)
    described = chunk.classes.found[kind]
    for name in fields:
        if described.place(name) < 0:
            continue
        open = amounts == 0
        wrong = open & (found[name] < 0) if name in found else open
        if wrong.any():
            where = chunk.cursor(int(at[wrong][0])).where
            raise BadProfile(f"Event {described.name} has no numeric {name}", where=where)
        # Durations are in ticks of the machine's clock; a period is already in nanoseconds.
        values = _nanoseconds(found[name], chunk.hertz) if name == "duration" and name in found else found.get(name)
        if values is not None:
            amounts = np.where(open, values, amounts)
    return amounts


def _nanoseconds(ticks: Ints, hertz: int) -> Ints:
    if hertz == NANOSECONDS:
        return ticks
    if hertz < MOST // NANOSECONDS and int(ticks.max(initial=0)) // hertz < MOST // NANOSECONDS - 1:
        whole, rest = np.divmod(ticks, hertz)
        return np.asarray(whole * NANOSECONDS + rest * NANOSECONDS // hertz)
    exact = [one * NANOSECONDS // hertz for one in ticks.tolist()]
    if max(exact) > MOST:
        raise BadProfile("An event lasts longer than fits in 63 bits")
    return np.array(exact, dtype=np.int64)


class Groups:
    """Events that are equal in some keys: ``keys`` of the groups in columns, and ``sizes``, their number of events."""

    def __init__(self, columns: Sequence[Ints]) -> None:
        packed = np.zeros(len(columns[0]), dtype=np.int64)
        for column in _fitting(columns):
            packed = (packed << int(column.max(initial=0)).bit_length()) | column
        self._order = np.argsort(packed)
        packed = packed[self._order]
        self._starts = np.flatnonzero(np.concatenate([[True], packed[1:] != packed[:-1]]))
        self.sizes: Ints = np.diff(self._starts, append=len(packed))
        first = self._order[self._starts]
        self.keys: list[Ints] = [column[first] for column in columns]

    def sums(self, values: Ints) -> Ints:
        """Return the exact sum of values over each group, as Python integers if not all fit in 64 bits."""
        fits = int(values.max(initial=0)) <= MOST // max(len(values), 1)
        ordered = values[self._order]
        return np.add.reduceat(ordered if fits else ordered.astype(object), self._starts)


def _fitting(columns: Sequence[Ints]) -> Sequence[Ints]:
    """Return non-negative keys that together fit in 63 bits: as they are, or as ranks."""
    bits = sum(int(column.max(initial=0)).bit_length() for column in columns)
    if bits <= 63 and all(int(column.min(initial=0)) >= 0 for column in columns):
        return columns
    return [np.unique(column, return_inverse=True)[1] for column in columns]

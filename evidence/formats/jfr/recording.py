"""Read a recording: its chunks one after the other, each with its own constants.

Events count different things, so each kind is a sample type of its own: samples of running threads, of threads in
native code, of wall-clock time, bytes allocated, time parked or waiting for a lock.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from operator import add
from typing import Any

import numpy as np

from evidence.formats import Buffer
from evidence.formats.base.gather import MOST, Gather
from evidence.formats.jfr import counting
from evidence.formats.jfr.chunk import Chunk, Described
from evidence.formats.jfr.counting import ALONE, CPU, EVENTS, WALL, Counted
from evidence.formats.jfr.traces import CutStacks, Stacktraces
from evidence.profile.amounts import first, percent
from evidence.profile.errors import NotRecognised
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.stacks import Ints, SampleType, Stacks

NOTHING = (
    "This recording has no events with stacks that we support. Record with `settings=profile`, or use async-profiler."
)
# By default the JDK keeps the innermost 64 frames of a stack. Source: java(1), FlightRecorderOptions.
CUT = 0.005  # of the first sample type
CUT_OFF = (
    "{} of it has stacks that were cut off at {} frames: what called those isn't known, so totals of callers are too "
    "low. Record with `-XX:FlightRecorderOptions=stackdepth=512`, or with `-j 512` in async-profiler."
)
LABELS = 100
Threads = defaultdict[str, list[int]]


def read(data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
    """Read the events that have stacks. Raises ``BadProfile`` naming the byte, ``TooMuch``, ``NotRecognised``."""
    chunks: list[tuple[Chunk, Counted]] = []
    described: Described = {}
    at = 0
    while at < len(data):
        chunk = Chunk(data, at, described)
        chunks.append((chunk, counting.counted(chunk)))
        at = chunk.end
    met = dict.fromkeys(kind for _, counted in chunks for kind in counted)
    types = [kind for kind in dict.fromkeys([*(CPU, WALL), *_known(), *met]) if kind in met]
    if not types:
        raise NotRecognised(NOTHING)
    gather = Gather([_shown(kind, types) for kind in types], limits=limits)
    about: dict[str, Any] = {"duration_ns": sum(chunk.duration_ns for chunk, _ in chunks)}
    threads: Threads = defaultdict(lambda: [0] * len(types))
    cut_off = CutStacks([0] * len(types))
    for chunk, counted in chunks:
        cut_off = cut_off.plus(_pour(chunk, counted, types, gather, threads))
    largest = sorted(threads.items(), key=lambda item: (-max(item[1]), item[0]))
    about |= {"labels": {"thread": dict(largest[:LABELS])}} if threads else {}
    stacks = gather.stacks("jfr", about=about)
    return replace(stacks, about={**about, **_caution(cut_off, stacks.totals[0])})


def _known() -> list[SampleType]:
    """Return all types that events count: amounts first, then occurrences."""
    amounts = [counts.type or counts.each for counts in EVENTS.values()]
    return [kind for kind in [*amounts, *(counts.each for counts in EVENTS.values())] if kind]


def _caution(cut_off: CutStacks, total: int) -> dict[str, str]:
    """Warn about stacks without their outermost frames, by the first sample type: their callers are unknown."""
    if not total or cut_off.values[0] < CUT * total:
        return {}
    return {"caution": CUT_OFF.format(first(percent(cut_off.values[0] / total)), cut_off.depth)}


def _shown(kind: SampleType, types: Sequence[SampleType]) -> SampleType:
    """Name a type plainly *allocated* or *cpu*, unless another one in the recording has that name."""
    plain = ALONE.get(kind, kind)
    return kind if plain.name in {one.name for one in types} else plain


def _pour(chunk: Chunk, counted: Counted, types: Sequence[SampleType], gather: Gather, threads: Threads) -> CutStacks:
    """Add the samples of a chunk; return what the recorder truncated from their stacks."""
    if not counted:
        return CutStacks([0] * len(types))
    stacktraces = Stacktraces(chunk, gather)
    tallies = [(types.index(kind), tally) for kind, tallies in counted.items() for tally in tallies]
    by_thread, in_each = _summed([(place, tally.threads, tally.amounts) for place, tally in tallies], len(types))
    for thread, values in zip(by_thread.tolist(), in_each.T.tolist(), strict=True):
        of_name = threads[stacktraces.thread(thread) or f"thread {thread}"]
        of_name[:] = map(add, of_name, values)
    stacks = _summed([(place, tally.stacks, tally.amounts) for place, tally in tallies], len(types))
    return stacktraces.pour(*stacks)


def _summed(tallies: Sequence[tuple[int, Ints, Ints]], types: int) -> tuple[Ints, Ints]:
    """Return distinct keys in order of appearance, and how much each counts: a row for each type.

    A tally is the index of its type, keys, and their amounts. The sums are exact: Python integers if not all fit.
    """
    different, first, numbers = np.unique(
        np.concatenate([keys for _, keys, _ in tallies]), return_index=True, return_inverse=True
    )
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    fits = sum(int(amounts.sum()) for _, _, amounts in tallies) <= MOST
    sums = np.zeros((types, len(different)), dtype=np.int64 if fits else object)
    at = 0
    for place, keys, amounts in tallies:
        np.add.at(sums[place], rank[numbers[at : at + len(keys)]], amounts.astype(sums.dtype))
        at += len(keys)
    return different[order], sums

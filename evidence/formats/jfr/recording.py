"""Reads a recording: its chunks one after the other, each with constants of its own.

What events count differs, so each kind is a sample type of its own: samples of threads that run, of threads in native
code, of wall-clock time, bytes allocated, time parked or waiting for a lock.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from operator import add
from typing import Any

from evidence.formats import Buffer
from evidence.formats.base.gather import Gather
from evidence.formats.jfr import counting
from evidence.formats.jfr.chunk import Chunk, Described
from evidence.formats.jfr.counting import ALONE, CPU, EVENTS, WALL, Counted
from evidence.formats.jfr.traces import Stacktraces
from evidence.profile.errors import NotRecognised
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.stacks import SampleType, Stacks

NOTHING = (
    "This recording has no events with stacks that we support. Record with `settings=profile`, or use async-profiler."
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
    truncated = sum(_pour(chunk, counted, types, gather, threads) for chunk, counted in chunks)
    about |= {"truncated": truncated} if truncated else {}
    largest = sorted(threads.items(), key=lambda item: (-max(item[1]), item[0]))
    about |= {"labels": {"thread": dict(largest[:LABELS])}} if threads else {}
    return gather.stacks("jfr", about=about)


def _known() -> list[SampleType]:
    """Return all types that events count: how much first, then how often."""
    amounts = [counts.type or counts.each for counts in EVENTS.values()]
    return [kind for kind in [*amounts, *(counts.each for counts in EVENTS.values())] if kind]


def _shown(kind: SampleType, types: Sequence[SampleType]) -> SampleType:
    """Call a type plainly *allocated* or *cpu*, unless another one of that name is in the recording too."""
    plain = ALONE.get(kind, kind)
    return kind if plain.name in {one.name for one in types} else plain


def _pour(chunk: Chunk, counted: Counted, types: Sequence[SampleType], gather: Gather, threads: Threads) -> int:
    """Add the samples of a chunk; return how many events' stacks the recorder cut off."""
    stacktraces = Stacktraces(chunk, gather)
    stacks: dict[int, list[int]] = defaultdict(lambda: [0] * len(types))
    by_thread: dict[int, list[int]] = defaultdict(lambda: [0] * len(types))
    for kind, of_kind in counted.items():
        place = types.index(kind)
        for (stack, thread), value in of_kind.items():
            stacks[stack][place] += value
            by_thread[thread][place] += value
    for thread, values in by_thread.items():
        of_name = threads[stacktraces.thread(thread) or f"thread {thread}"]
        of_name[:] = map(add, of_name, values)
    return stacktraces.pour(stacks)

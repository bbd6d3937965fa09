"""The common part of Austin's two forms: stacks of threads, with their time and the memory allocated and freed.

Times are microseconds: wall-clock time, unless the recording says that idle threads were left out (mode *cpu*). A full
recording says for each sample whether its thread was idle, and has both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from evidence.formats.base.gather import Gather
from evidence.profile.errors import BadProfile
from evidence.profile.limits import Limits
from evidence.profile.source_functions import SourceFunction
from evidence.profile.stacks import SampleType

MICROSECOND = 1_000
TIMES = {"cpu": SampleType("cpu", "nanoseconds"), "wall": SampleType("wall", "nanoseconds")}
MEMORY = (SampleType("memory", "bytes"), SampleType("freed memory", "bytes"))
# What replaces the file of a frame that is not a function of the program -> the frame's hint.
KERNEL, COLLECTING = "(kernel)", "(garbage collector)"
HINTS = {KERNEL: "kernel", COLLECTING: "native"}
LABELS, COMMENTS, LONGEST = 100, 50, 200
Frame = SourceFunction


class AustinStack(NamedTuple):
    """A stack of one thread of one process, root first."""

    process: str
    thread: str
    frames: tuple[Frame, ...]


class AustinMetrics(NamedTuple):
    """What a sample counts: microseconds, whether its thread was idle, and bytes; None for what it doesn't say."""

    time: int | None = None
    memory: int | None = None
    idle: bool = False


class AustinSamples:
    """Adds samples up by stack."""

    def __init__(self) -> None:
        self._sums: dict[AustinStack, list[int]] = {}  # time, non-idle time, memory allocated, memory freed
        self._timed = self._sized = False

    def add(self, stack: AustinStack, metrics: AustinMetrics) -> None:
        """Add a sample. Raises ``BadProfile`` for a negative time."""
        time, memory = metrics.time or 0, metrics.memory or 0
        if time < 0:
            raise BadProfile(f"A sample lasted {time} µs")
        self._timed |= metrics.time is not None
        self._sized |= metrics.memory is not None
        sums = self._sums.setdefault(stack, [0, 0, 0, 0])
        for at, value in enumerate((time, 0 if metrics.idle else time, max(memory, 0), max(-memory, 0))):
            sums[at] += value

    def gathered(self, said: Mapping[str, str], *, limits: Limits) -> tuple[Gather, dict[str, Any]]:
        """Return the samples and their metadata, given that of the recording.

        Raises ``BadProfile`` for malformed content.
        """
        if not self._timed and not self._sized:
            raise BadProfile("It has no samples")
        kinds = self._kinds(said)
        gather = Gather([kind for kind, _, _ in kinds], limits=limits)
        names = gather.names_of(frame for stack in self._sums for frame in stack.frames)
        several = len({stack.process for stack in self._sums}) > 1
        threads: Counter[tuple[str, int]] = Counter()
        for stack, sums in self._sums.items():
            root = [gather.code(f"process {stack.process}")] if several else []
            codes = [*root, *(_code(gather, frame, names) for frame in stack.frames)]
            values = [sums[column] * times for _, column, times in kinds]
            gather.add(codes, values, where=f"thread {stack.thread:.40}")
            threads.update({(stack.thread[:LONGEST], at): value for at, value in enumerate(values)})
        return gather, _about(said, threads, len(kinds))

    def _kinds(self, said: Mapping[str, str]) -> list[tuple[SampleType, int, int]]:
        """Return each sample type, the index of its sum, and how many of its units one is."""
        found: list[tuple[SampleType, int, int]] = []
        if self._timed:
            found.append((TIMES["cpu" if said.get("mode") == "cpu" else "wall"], 0, MICROSECOND))
        if self._timed and self._sized and said.get("mode") != "cpu":
            found.append((TIMES["cpu"], 1, MICROSECOND))
        if self._sized:
            found.append((MEMORY[0], 2, 1))
            found += [(MEMORY[1], 3, 1)] if any(sums[3] for sums in self._sums.values()) else []
        return found


def kernel(name: str) -> Frame:
    """Return the frame of a kernel function."""
    return Frame(name or "[unknown]", KERNEL)


def collecting() -> Frame:
    """Return the frame for garbage collection."""
    return Frame(COLLECTING, COLLECTING)


def invalid() -> Frame:
    """Return the frame for what could not be read."""
    return Frame("[invalid]")


def _code(gather: Gather, frame: Frame, names: Mapping[Frame, str]) -> int:
    hint = HINTS.get(frame.file, "")
    return gather.code(frame.name if hint else names[frame], hint=hint)


def _about(said: Mapping[str, str], threads: Counter[tuple[str, int]], kinds: int) -> dict[str, Any]:
    comments = [f"{key}: {value}"[:LONGEST] for key, value in list(said.items())[:COMMENTS]]
    about: dict[str, Any] = {"comments": comments} if comments else {}
    duration = said.get("duration", "")
    if duration.isdecimal() and len(duration) < 16:
        about["duration_ns"] = int(duration) * MICROSECOND
    names: Sequence[str] = [name for (name, at), _ in threads.most_common() if at == 0][:LABELS]
    if len(names) > 1:
        about["labels"] = {"thread": {name: [threads[name, at] for at in range(kinds)] for name in names}}
    return about

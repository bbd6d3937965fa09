"""What reading ``perf script`` gathers: different stacks, how often each event met them, and what was skipped."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from evidence.errors import BadProfile, TooMuch
from evidence.formats import perf_frames
from evidence.formats.perf_events import Events
from evidence.formats.perf_header import BARE, HEADER, NO_SAMPLE
from evidence.formats.perf_names import NOT_A_FRAME, Lines, Names
from evidence.formats.skipped import Skipped
from evidence.limits import Limits
from evidence.stacks import Codes, Ints, Stacks

REMEMBERED = 64 << 20
SHOWN_THREADS = 200
_COMMAND = re.compile(rb"# cmdline : ([^\n]{1,2000})")


class Opening(NamedTuple):
    """The header of a sample whose stack is being read; one without time and event is ``sure`` only with a stack."""

    comm: bytes
    event: bytes | None
    period: bytes | None
    sure: bool
    line: int
    text: bytes


class Samples:
    """All samples of one file. A slot is one stack met by one event."""

    def __init__(self, *, limits: Limits) -> None:
        self.seen: dict[tuple[bytes, bytes | None, bytes], int] = {}
        self.skipped = Skipped()
        self.at = 0
        self._limits = limits
        self._names = Names(limits)
        self._lines = Lines(self._names)
        self._events = Events(limits)
        self._counts: list[int] = []
        self._weights: list[int] = []
        self._slots: dict[tuple[int, int], int] = {}
        self._stacks: dict[bytes, int] = {}
        self._frames = self._remembered = self._before = 0
        self._chunk = self._command = b""
        self._open: Opening | None = None
        self._codes: list[int] = []
        self._comms: dict[bytes, int] = {}
        self._first: bytes | None = None
        self._last: bytes | None = None

    def __len__(self) -> int:
        return len(self._counts)

    @property
    def is_open(self) -> bool:
        """Say whether a sample began whose end was not met yet."""
        return self._open is not None

    def open_chunk(self, chunk: bytes) -> None:
        """Begin the next piece of the file; what would make memory grow with it is forgotten."""
        self._before += self._chunk.count(b"\n")
        self._chunk, self.at = chunk, 0
        self._lines.forget()
        if self._remembered > REMEMBERED:
            self.seen.clear()
            self._remembered = 0

    def again(self, slot: int, header: re.Match[bytes]) -> None:
        """Count one more sample of a block that was read before."""
        self._counts[slot] += 1
        self._weights[slot] += int(header[3] or 1)
        self._last = header[2]

    def read_block(self, block: bytes, header: re.Match[bytes], body: bytes) -> None:
        """Read a header and its stack; remember them where there is nothing else in the block."""
        codes = list(map(self._lines.__getitem__, body.split(b"\n")))
        comm, time, period, event = header.groups()
        if NOT_A_FRAME in codes or (event or b"").startswith(NO_SAMPLE):
            self.read_lines(block)
            return
        self.seen[comm, event, body] = self._count(comm, event, period, codes)
        self._remembered += len(body)
        self._last = time
        self._first = self._first or time

    def read_lines(self, block: bytes, *, ended: bool = True) -> None:
        """Read line by line what may hold comments, several samples, or lines that say nothing."""
        for number, line in enumerate(block.split(b"\n")):
            self._read_line(line, number)
        if ended:
            self.end()

    def _read_line(self, line: bytes, number: int) -> None:
        if line.startswith(b"#"):
            found = _COMMAND.match(line)
            self._command = found[1] if found else self._command
        elif not line.strip():
            self.end()
        elif (code := self._lines[line]) != NOT_A_FRAME:
            self._open = self._open or Opening(b"", None, None, sure=True, line=number, text=line)
            self._codes.append(code)
        elif header := HEADER.match(line):
            self._begin(header, line, number)
        elif not perf_frames.is_source_line(line):
            self._begin_bare(line, number)

    def _begin(self, header: re.Match[bytes], line: bytes, number: int) -> None:
        """Open a sample; where its stack is one frame it may stand behind the event."""
        self.end()
        comm, time, period, event = header.groups()
        self._open = Opening(comm, event, period, sure=bool(time or event), line=number, text=line)
        self._last = time or self._last
        self._first = self._first or time
        rest = line[header.end() :].strip()
        if rest and perf_frames.is_sampled(rest) and (code := self._lines[rest]) != NOT_A_FRAME:
            self._codes.append(code)

    def _begin_bare(self, line: bytes, number: int) -> None:
        """Take the line for the name of a process if a stack follows, and skip it otherwise."""
        bare = None if self._open else BARE.match(line)
        if bare:
            self._open = Opening(bare[1], None, None, sure=False, line=number, text=line)
        else:
            self._skip(number, line)

    def end(self) -> None:
        """Count the sample that is open, if any."""
        opened, codes = self._open, self._codes
        self._open, self._codes = None, []
        if opened is None or (opened.event or b"").startswith(NO_SAMPLE):
            return
        if opened.sure or codes:
            self._count(opened.comm, opened.event, opened.period, codes)
        else:
            self._skip(opened.line, opened.text)

    def skip_cut(self, block: bytes) -> None:
        """Count the lines of a sample that the end of the file cuts off."""
        for number, line in enumerate(block.split(b"\n")):
            self._skip(number, line)

    def _skip(self, number: int, line: bytes) -> None:
        place = self._before + self._chunk.count(b"\n", 0, self.at) + number + 1 if self.skipped.wants_place else 0
        self.skipped.add(place, line)

    def _count(self, comm: bytes, event: bytes | None, period: bytes | None, codes: list[int]) -> int:
        """Add one sample and return its slot."""
        frames = self._lines.frames(codes)
        if comm:
            frames.append(self._comms.get(comm) or self._thread(comm))
        frames.reverse()
        stack = self._stacks.setdefault(array("i", frames).tobytes(), len(self._stacks))
        slot = self._slots.setdefault((stack, self._events.code(event, weighted=bool(period))), len(self._counts))
        if slot == len(self._counts):
            self._check(len(frames))
            self._counts.append(0)
            self._weights.append(0)
        self._counts[slot] += 1
        self._weights[slot] += int(period or 1)
        return slot

    def _thread(self, comm: bytes) -> int:
        """Return the code of a thread's name, the root of its stacks; *swapper* is what runs when nothing does."""
        code = self._names.code(comm.decode(errors="replace").replace(";", ":"), "idle" if comm == b"swapper" else "")
        self._comms[comm] = code
        return code

    def _check(self, depth: int) -> None:
        """Keep within the limits. Raises ``TooMuch``."""
        self._frames += depth
        if depth > self._limits.depth:
            place = self._before + self._chunk.count(b"\n", 0, self.at) + 1
            raise TooMuch(f"A stack is {depth} frames deep, more than {self._limits.depth}", where=f"line {place}")
        if len(self._counts) >= self._limits.stacks:
            raise TooMuch(f"More than {self._limits.stacks} different stacks")
        if self._frames > self._limits.frames:
            raise TooMuch(f"More than {self._limits.frames} frames")

    def stacks(self) -> Stacks:
        """Return what was gathered. Raises ``BadProfile`` where the periods do not fit 64 bits."""
        if sum(self._weights) >= 1 << 63:
            raise BadProfile("The periods add up to more than 64 bits hold")
        pairs = np.fromiter((number for pair in self._slots for number in pair), dtype=np.int64).reshape(-1, 2)
        counts = np.array(self._counts, dtype=np.int64)
        weights = np.array(self._weights, dtype=np.int64)
        depths = np.fromiter((len(key) // 4 for key in self._stacks), dtype=np.int64, count=len(self._stacks))
        offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(depths)])
        frames = np.frombuffer(b"".join(self._stacks), dtype=np.int32)
        size = len(self._stacks)
        values = self._events.values(pairs[:, 1], pairs[:, 0], counts=counts, weights=weights, size=size)
        return Stacks(
            format="perf script",
            sample_types=self._events.sample_types(),
            names=list(self._names.codes),
            hints=self._names.hints,
            offsets=offsets,
            frames=frames,
            values=values,
            default_type=self._events.default_type,
            about=self._about(pairs[:, 0], counts, frames, offsets),
        )

    def _about(self, stacks: Ints, counts: Ints, frames: Codes, offsets: Ints) -> dict[str, Any]:
        """Say which command was recorded, which threads were met how often, and how long it took."""
        about: dict[str, Any] = {"threads": self._threads(stacks, counts, frames, offsets), **self.skipped.about()}
        if self._command:
            about["command"] = self._command.decode(errors="replace").strip()
        if self._first and self._last and float(self._last) > float(self._first):
            about["duration_ns"] = round((float(self._last) - float(self._first)) * 1e9)
        return about

    def _threads(self, stacks: Ints, counts: Ints, frames: Codes, offsets: Ints) -> dict[str, int]:
        """Count samples by the name of their thread, the root of each stack; the most frequent first."""
        names, roots = list(self._names.codes), set(self._comms.values())
        of_stack = [int(frames[at]) if at < end else -1 for at, end in pairwise(offsets.tolist())]
        threads: Counter[str] = Counter()
        for stack, count in zip(stacks.tolist(), counts.tolist(), strict=True):
            if of_stack[stack] in roots:
                threads[names[of_stack[stack]]] += count
        return dict(threads.most_common(SHOWN_THREADS))

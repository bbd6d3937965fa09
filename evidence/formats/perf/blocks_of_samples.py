"""Read a ``perf script`` text: usual samples as a whole, others line by line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evidence.formats.perf import sample_header
from evidence.formats.perf.gathered import Gathered
from evidence.formats.perf.lines import LineReader
from evidence.formats.perf.names import NOT_A_FRAME
from evidence.formats.perf.position import Buffer, Position
from evidence.formats.perf.sample_header import NO_SAMPLE
from evidence.profile.errors import TooMuch
from evidence.profile.limits import Limits
from evidence.profile.stacks import Stacks

if TYPE_CHECKING:
    from evidence.formats.perf.blocks import SampleLines

HEAD = 1 << 16
REMEMBERED = 32 << 20
MOST_KINDS = 100_000
NOT_USUAL = -1


class SampleReader:
    """Reads the samples of one file into ``gathered``.

    Samples in one function differ in the address of their leaf and share what is above it: the lines above are read
    once for all of them (``_callers``), and so are the thread and the event (``_kinds``).
    """

    def __init__(self, data: Buffer, *, limits: Limits) -> None:
        self.gathered = Gathered(limits=limits)
        self.place = Position(data)
        self.lines = LineReader(self.gathered, self.place, headed=sample_header.are_in(data[:HEAD]))
        self._seen: dict[tuple[int, int, int], int] = {}
        self._callers: dict[bytes, int] = {}
        self._frames: list[bytes] = []
        self._kinds: dict[tuple[bytes, bytes, bool], int] = {}
        self._roots: list[tuple[bytes, int]] = []
        self._remembered = 0

    def open(self, chunk: bytes | memoryview, *, start: int) -> None:
        """Start the piece of the file at ``start``; drops what would make memory grow with the file."""
        self.place.open(chunk, start=start)
        if self.lines.is_open:
            return
        if self.gathered.lines.forget() or self._remembered > REMEMBERED or len(self._kinds) > MOST_KINDS:
            for remembered in (self._seen, self._callers, self._frames, self._kinds, self._roots):
                remembered.clear()
            self._remembered = 0

    def read(self, block: bytes) -> None:
        """Read one sample: a header, the leaf's line, and the lines of its callers."""
        lines = block.split(b"\n", 2)
        header = sample_header.read(lines[0]) if len(lines) > 1 else None
        if header is None:
            return self.lines.read(block)
        leaf, above = lines[1], lines[2] if len(lines) > 2 else b""
        kind = self._kind(*header)
        code = self.gathered.lines[leaf]
        callers = self._callers.get(above)
        if callers is None:
            callers = self._read_callers(above)
        if kind == NOT_USUAL or code == NOT_A_FRAME or callers == NOT_USUAL:
            return self.lines.read(block)
        slot = self._seen.get((kind, code, callers))
        if slot is None:
            slot = self._meet(kind, code, callers)
        self._note(header[1])
        self.gathered.counts[slot] += 1
        self.gathered.weights[slot] += int(header[2] or 1)
        return None

    def _note(self, time: bytes | None) -> None:
        self.gathered.last = time
        self.gathered.first = self.gathered.first or time

    def _kind(self, who: bytes, time: bytes | None, period: bytes | None, event: bytes) -> int:
        """Return the number of a thread and an event, ``NOT_USUAL`` if this is not a sample."""
        kind = self._kinds.get((who, event, period is None))
        return self._read_kind(who, event, weighted=period is not None) if kind is None else kind

    def read_all(self, chunk: bytes | memoryview, found: SampleLines) -> None:
        """Read the samples found in a piece: equal ones together, unusual ones individually."""
        try:
            codes = list(map(self.gathered.lines.of_symbol, found.symbols, found.told))
        except TooMuch:  # the excessive line is met again, in its sample
            codes = [NOT_A_FRAME] * len(found.told)
        stacks, told = found.stacks(np.array(codes, dtype=np.int32))
        equal = found.equal(stacks, sample_header.is_usual)
        begins, ends, gathered = found.begins.tolist(), found.ends.tolist(), self.gathered
        stacks_of = list(map(gathered.spread, told)) if gathered.lines.holds_several else told
        roots: dict[int, tuple[bytes, int]] = {}
        for number, group in equal.in_order():
            if group is None:
                self.place.at = begins[number]
                if number and equal.together[number - 1]:
                    self._note(found.time(number - 1))
                self.read(bytes(chunk[begins[number] : ends[number]]))
                continue
            pair, stack, count, weight = group
            root = roots.get(pair)
            if root is None:
                self._note(found.time(number))
                root = roots[pair] = self._root(*found.pair(pair))
            try:
                gathered.count(root[0] + stacks_of[stack], root[1], count, weight)
            except TooMuch:
                self.place.at = begins[number]
                raise
        if len(begins) and equal.together[-1]:
            self._note(found.time(len(begins) - 1))

    def _root(self, comm: bytes, event: bytes) -> tuple[bytes, int]:
        """Return the first frame of a thread, and the number of an event with periods."""
        who = sample_header.named(comm)
        kind = self._kinds.get((who, event, False))
        return self._roots[self._read_kind(who, event, weighted=True) if kind is None else kind]

    def _read_kind(self, who: bytes, event: bytes, *, weighted: bool) -> int:
        """Read the thread and the event of a sample."""
        comm = sample_header.comm(who)
        kind = NOT_USUAL
        if comm and not event.startswith(NO_SAMPLE):
            kind = len(self._roots)
            self._roots.append((self.gathered.root(comm), self.gathered.events.code(event, weighted=weighted)))
        self._kinds[who, event, not weighted] = kind
        return kind

    def _read_callers(self, lines: bytes) -> int:
        """Return the number of the callers in ``lines``, ``NOT_USUAL`` if a line is something else."""
        codes = list(map(self.gathered.lines.__getitem__, lines.split(b"\n"))) if lines else []
        if NOT_A_FRAME in codes:
            return NOT_USUAL
        self._frames.append(self.gathered.frames(codes))
        self._callers[lines] = len(self._frames) - 1
        self._remembered += len(lines)
        return len(self._frames) - 1

    def _meet(self, kind: int, leaf: int, callers: int) -> int:
        """Return the slot of a stack that was not seen yet in this form."""
        root, event = self._roots[kind]
        slot = self.gathered.slot(root + self._frames[callers] + self.gathered.frames([leaf]), event)
        self._seen[kind, leaf, callers] = slot
        return slot

    def stacks(self) -> Stacks:
        """Return what was read, with the recording command and its duration."""
        about: dict[str, Any] = self.place.skipped.about()
        if self.lines.command:
            about["command"] = self.lines.command.decode(errors="replace").strip()
        first, last = float(self.gathered.first or 0), float(self.gathered.last or 0)
        if 0 < first < last:
            about["duration_ns"] = round((last - first) * 1e9)
        return self.gathered.stacks(about)

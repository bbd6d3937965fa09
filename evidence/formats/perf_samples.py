"""How a ``perf script`` text is read: whole samples where they are like most, line by line where they are not."""

from __future__ import annotations

import mmap
import re
from typing import Any, NamedTuple

from evidence.errors import BadProfile
from evidence.formats import perf_frames, perf_header
from evidence.formats.perf_gathered import Gathered
from evidence.formats.perf_header import BARE, HEADER, NO_SAMPLE
from evidence.formats.perf_names import NOT_A_FRAME
from evidence.formats.skipped import Skipped
from evidence.limits import Limits
from evidence.stacks import Stacks

Buffer = bytes | mmap.mmap

REMEMBERED = 32 << 20
COUNTED_AT_ONCE = 4 << 20
MOST_SKIPPED = 10_000  # lines, for each stack that was found
MOST_KINDS = 100_000
NOT_USUAL = -1
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
    """Reads the samples of one file into ``gathered``.

    Samples of one function differ in the address of their leaf, and share what is above it: the lines above are read
    once for all of them (``_callers``), and so is who was sampled by which event (``_kinds``).
    """

    def __init__(self, data: Buffer, *, limits: Limits) -> None:
        self._data = data
        self.gathered = Gathered(limits=limits)
        self.skipped = Skipped()
        self.at = 0
        self._seen: dict[tuple[int, int, int], int] = {}
        self._callers: dict[bytes, int] = {}
        self._frames: list[bytes] = []
        self._kinds: dict[tuple[bytes, bytes, bool], int] = {}
        self._roots: list[tuple[bytes, int]] = []
        self._remembered = self._before = self._counted = self._start = 0
        self._chunk = self._command = b""
        self._open: Opening | None = None
        self._codes: list[int] = []
        self._first: bytes | None = None
        self._last: bytes | None = None

    @property
    def is_open(self) -> bool:
        """Say whether a sample began whose end was not met yet."""
        return self._open is not None

    @property
    def where(self) -> str:
        """Name the line where the sample begins that is being read."""
        return f"line {self._line()}"

    def _line(self) -> int:
        """Return the number of the line that is being read; lines are counted when somebody asks."""
        while self._counted < self._start:
            piece = self._data[self._counted : min(self._counted + COUNTED_AT_ONCE, self._start)]
            self._before += piece.count(b"\n")
            self._counted += len(piece)
        return self._before + self._chunk.count(b"\n", 0, self.at) + 1

    def open_chunk(self, chunk: bytes, *, start: int) -> None:
        """Begin the piece of the file at ``start``; what would make memory grow with the file is forgotten."""
        self._chunk, self._start, self.at = chunk, start, 0
        if self.gathered.lines.forget() or self._remembered > REMEMBERED or len(self._kinds) > MOST_KINDS:
            self._seen.clear()
            self._callers.clear()
            self._frames.clear()
            self._kinds.clear()
            self._roots.clear()
            self._remembered = 0

    def read_block(self, block: bytes) -> None:
        """Read one sample: a header, the leaf's line, and the lines of its callers."""
        lines = block.split(b"\n", 2)
        header = perf_header.read(lines[0]) if len(lines) > 1 else None
        if header is None:
            return self.read_lines(block)
        leaf, above = lines[1], lines[2] if len(lines) > 2 else b""
        who, time, period, event = header
        kind = self._kinds.get((who, event, period is None))
        if kind is None:
            kind = self._read_kind(who, event, weighted=period is not None)
        code = self.gathered.lines[leaf]
        callers = self._callers.get(above)
        if callers is None:
            callers = self._read_callers(above)
        if kind == NOT_USUAL or code == NOT_A_FRAME or callers == NOT_USUAL:
            return self.read_lines(block)
        slot = self._seen.get((kind, code, callers))
        if slot is None:
            slot = self._meet(kind, code, callers)
        self._last = time
        self._first = self._first or time
        self.gathered.counts[slot] += 1
        self.gathered.weights[slot] += int(period or 1)
        return None

    def _read_kind(self, who: bytes, event: bytes, *, weighted: bool) -> int:
        """Return the number of a thread and an event, ``NOT_USUAL`` for what is no sample."""
        comm = perf_header.comm(who)
        kind = NOT_USUAL
        if comm and not event.startswith(NO_SAMPLE):
            kind = len(self._roots)
            self._roots.append((self.gathered.root(comm), self.gathered.events.code(event, weighted=weighted)))
        self._kinds[who, event, not weighted] = kind
        return kind

    def _read_callers(self, lines: bytes) -> int:
        """Return the number of the callers in ``lines``, ``NOT_USUAL`` where a line is something else."""
        codes = list(map(self.gathered.lines.__getitem__, lines.split(b"\n"))) if lines else []
        if NOT_A_FRAME in codes:
            return NOT_USUAL
        self._frames.append(self.gathered.frames(codes))
        self._callers[lines] = len(self._frames) - 1
        self._remembered += len(lines)
        return len(self._frames) - 1

    def _meet(self, kind: int, leaf: int, callers: int) -> int:
        """Return the slot of a stack that was not met yet in this shape."""
        root, event = self._roots[kind]
        slot = self.gathered.slot(root + self._frames[callers] + self.gathered.frames([leaf]), event)
        self._seen[kind, leaf, callers] = slot
        return slot

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
        elif (code := self.gathered.lines[line]) != NOT_A_FRAME:
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
        if rest and perf_frames.is_sampled(rest) and (code := self.gathered.lines[rest]) != NOT_A_FRAME:
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
        if not opened.sure and not codes:
            self._skip(opened.line, opened.text)
            return
        event = self.gathered.events.code(opened.event, weighted=bool(opened.period))
        slot = self.gathered.slot(self.gathered.root(opened.comm) + self.gathered.frames(codes), event)
        self.gathered.counts[slot] += 1
        self.gathered.weights[slot] += int(opened.period or 1)

    def skip_cut(self, block: bytes) -> None:
        """Count the lines of a sample that the end of the file cuts off."""
        for number, line in enumerate(block.split(b"\n")):
            self._skip(number, line)

    def _skip(self, number: int, line: bytes) -> None:
        self.skipped.add(self._line() + number if self.skipped.wants_place else 0, line)
        if self.skipped.count > MOST_SKIPPED * (1 + len(self.gathered.counts)):
            raise BadProfile("Nearly none of its lines are perf script", where=self.skipped.where)

    def stacks(self) -> Stacks:
        """Return what was read, with which command was recorded and how long it took."""
        about: dict[str, Any] = self.skipped.about()
        if self._command:
            about["command"] = self._command.decode(errors="replace").strip()
        if self._first and self._last and float(self._last) > float(self._first):
            about["duration_ns"] = round((float(self._last) - float(self._first)) * 1e9)
        return self.gathered.stacks(about)

"""Read a ``perf script`` text line by line: comments, samples without blank lines between them, and other lines."""

from __future__ import annotations

import re
from typing import NamedTuple

from evidence.formats.perf import stack_lines
from evidence.formats.perf.gathered import Gathered
from evidence.formats.perf.names import NOT_A_FRAME
from evidence.formats.perf.position import Position
from evidence.formats.perf.sample_header import BARE, HEADER, NO_SAMPLE

_COMMAND = re.compile(rb"# cmdline : ([^\n]{1,2000})")


class Opening(NamedTuple):
    """The header of the sample being read; one without time and event is only ``sure`` if a stack follows."""

    comm: bytes
    event: bytes | None
    period: bytes | None
    sure: bool
    line: int
    text: bytes


class LineReader:
    """Reads unusual lines into ``gathered``."""

    def __init__(self, gathered: Gathered, place: Position, *, headed: bool) -> None:
        self.command = b""
        self._headed = headed  # samples have headers, so a stack without one is a fragment
        self._gathered, self._place = gathered, place
        self._open: Opening | None = None
        self._codes: list[int] = []

    @property
    def is_open(self) -> bool:
        """Return whether a sample was begun and not ended yet."""
        return self._open is not None

    def read(self, block: bytes, *, ended: bool = True) -> None:
        """Read text line by line that may contain comments, several samples, or other lines."""
        for number, line in enumerate(block.split(b"\n")):
            self._read_line(line, number)
        if ended:
            self.end()

    def _read_line(self, line: bytes, number: int) -> None:
        if line.startswith(b"#"):
            found = _COMMAND.match(line)
            self.command = found[1] if found else self.command
        elif not line.strip():
            self.end()
        elif (code := self._gathered.lines[line]) != NOT_A_FRAME:
            if self._open is None and self._headed:
                self._skip(number, line)  # a blank line ended the sample that it belonged to
                return
            self._open = self._open or Opening(b"", None, None, sure=True, line=number, text=line)
            self._codes.append(code)
        elif header := HEADER.match(line):
            self._begin(header, line, number)
        elif not stack_lines.is_source_line(line):
            self._begin_bare(line, number)

    def _begin(self, header: re.Match[bytes], line: bytes, number: int) -> None:
        """Open a sample; if its stack is a single frame, that may follow the event."""
        self.end()
        comm, time, period, event = header.groups()
        self._open = Opening(comm, event, period, sure=bool(time or event), line=number, text=line)
        self._gathered.last = time or self._gathered.last
        self._gathered.first = self._gathered.first or time
        rest = line[header.end() :].strip()
        if rest and stack_lines.is_sampled(rest) and (code := self._gathered.lines[rest]) != NOT_A_FRAME:
            self._codes.append(code)

    def _begin_bare(self, line: bytes, number: int) -> None:
        """Take the line as a process name if a stack follows, and skip it otherwise."""
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
        event = self._gathered.events.code(opened.event, weighted=bool(opened.period))
        slot = self._gathered.slot(self._gathered.root(opened.comm) + self._gathered.frames(codes), event)
        self._gathered.counts[slot] += 1
        self._gathered.weights[slot] += int(opened.period or 1)

    def skip_cut(self, block: bytes) -> None:
        """Count the lines of a sample that the end of the file truncates."""
        for number, line in enumerate(block.split(b"\n")):
            self._skip(number, line)

    def _skip(self, number: int, line: bytes) -> None:
        self._place.skip(number, line, found=len(self._gathered.counts))

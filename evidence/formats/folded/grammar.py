"""The grammar of folded stacks, one line at a time, and what reading them collects. Pure.

A line is frames joined by ``;``, white space, a count. A count is digits with or without a fraction (flamegraph.pl's
``\\d+(\\.\\d*)?``) and an exponent (awk writes large sums that way); *differential* lines end in two of them
(difffolded.pl). White space around a frame is not part of its name (tracing-flame joins with ``; ``), a frame without
a name is dropped, a count without frames counts for the root. Lines that begin with ``#`` are comments (Austin,
bpftrace, people).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import accumulate
from threading import Lock
from typing import NamedTuple

import numpy as np

from evidence.formats.base import overlong
from evidence.formats.base.skipped import Skipped
from evidence.profile.errors import BadProfile, TooMuch
from evidence.profile.limits import Limits
from evidence.profile.stacks import Codes, Ints

BLANK = b" \t\r"
# What may follow the # of a comment: one of these, or nothing.
COMMENTED = (b"", b" ", b"\t", b"\r", b"#", b"!")
NO_FRAME = -1
LARGEST = (1 << 63) - 1
PLACES = 9
_COUNT = re.compile(rb"([0-9]+)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,3}))?")
# Counts that must not be dropped, often the largest or smallest in a file: without them the file would mislead.
_BELOW_ZERO = re.compile(rb"[ \t][-+][0-9][0-9.]*$")
_GROUPED = re.compile(rb"[ \t][0-9]{1,3}([,'_][0-9]{3})+$")
# With more places than this, a number is larger than any count, or nothing.
MOST_PLACES = 40
_ENDINGS = {b";": b" ", b" ": b";"}
# Terminals obey control characters, and characters that reverse text would also reverse the numbers around a name.
_CONTROLS = dict.fromkeys(
    (*range(32), 127, *range(0x202A, 0x202F), *range(0x2066, 0x206A)), "\N{REPLACEMENT CHARACTER}"
)


class NotPairs(Exception):
    """A line has a single count: the file is not differential, and numbers before counts belong to names."""


class Tail(NamedTuple):
    """The end of a line: where its stack ends, its counts in whole numbers, and the billionths beyond them."""

    end: int
    counts: tuple[int, ...]
    parts: tuple[int, ...]


@dataclass(slots=True)
class FoldedLines:
    """The content of a file's lines. ``parts`` holds [column, sample, billionths] for each count that is not whole.

    ``samples`` is how many lines have a stack; there may be fewer stacks, because equal ones may be added up.
    """

    names: list[str]
    offsets: Ints
    frames: Codes
    counts: Ints
    parts: list[tuple[int, int, int]] = field(default_factory=list)
    skipped: Skipped = field(default_factory=Skipped)
    samples: int = 0


class FrameCodes:
    """Frames as written, each with the code of its name; several threads may use it at once."""

    def __init__(self, limits: Limits) -> None:
        self.codes: dict[str, int] = {}
        self._met: dict[bytes, int] = {}
        self._limits = limits
        self._lock = Lock()

    def __call__(self, frames: list[bytes]) -> list[int]:
        """Return the codes of frames. A frame may still have the ``;`` that ends it; a line end is not a frame."""
        codes = list(map(self._met.get, frames))
        if None not in codes:
            return codes  # type: ignore[return-value]  # nothing is missing
        return [self._new(frame) if code is None else code for code, frame in zip(codes, frames, strict=True)]

    def _new(self, frame: bytes) -> int:
        """Give a frame its code, unless it is a line end; it was often seen before with the other ending."""
        if frame.endswith(b"\n"):
            if not frame.strip(b"\n"):
                self._met[frame] = NO_FRAME
            return NO_FRAME
        code = self._met.get(frame[:-1] + _ENDINGS.get(frame[-1:], b"\n"))
        if code is None:
            code = self._code(frame.rstrip(b";").strip(BLANK).decode(errors="replace"))
        self._met[frame] = code
        return code

    def _code(self, name: str) -> int:
        if not name:
            return NO_FRAME
        name = overlong.cut(name if name.isprintable() else name.translate(_CONTROLS), most=self._limits.name)
        with self._lock:
            code = self.codes.setdefault(name, len(self.codes))
        if code >= self._limits.names:
            raise TooMuch(f"More than {self._limits.names:,} different functions")
        return code

    def ordered(self) -> tuple[list[str], Codes]:
        """Return the names in order, and for each code its index in that order."""
        names = sorted(self.codes)
        rank = np.empty(len(names), dtype=np.int32)
        rank[[self.codes[name] for name in names]] = np.arange(len(names), dtype=np.int32)
        return names, rank


def tail(line: bytes, *, columns: int) -> Tail | None:
    """Read the counts at the end of a line; return None if it is not a line of folded stacks."""
    counts: list[int] = []
    parts: list[int] = []
    end = len(line)
    for _ in range(columns):
        line = line[:end].rstrip(BLANK)
        end = max(map(line.rfind, (b" ", b"\t", b"\r")))
        count = _COUNT.fullmatch(line, end + 1)
        if count is None:
            return None
        whole, part = _number(*_moved(count[1], count[2] or b"", int(count[3] or 0)))
        if whole > LARGEST:
            return None
        counts.append(whole)
        parts.append(part)
        end = max(end, 0)
    return Tail(end, tuple(counts[::-1]), tuple(parts[::-1]))


def _moved(digits: bytes, fraction: bytes, exponent: int) -> tuple[bytes, bytes]:
    """Return digits and fraction after the point has moved to the right, or to the left."""
    point = len(digits) + exponent
    if point <= 0:
        return b"0", b"0" * min(-point, MOST_PLACES) + digits + fraction
    written = (digits + fraction).ljust(min(point, MOST_PLACES), b"0")
    return written[:point], written[point:]


def _number(digits: bytes, fraction: bytes) -> tuple[int, int]:
    """Return the whole number and the billionths; a tenth decimal place is rounded half up."""
    if len(digits) > len(str(LARGEST)) and len(digits.lstrip(b"0")) > len(str(LARGEST)):
        return LARGEST + 1, 0
    places = int(fraction[:PLACES].ljust(PLACES, b"0")) + (fraction[PLACES : PLACES + 1] >= b"5")
    return int(digits) + places // 10**PLACES, places % 10**PLACES


def is_blank(line: bytes) -> bool:
    """Return whether a line is blank, so that it need not be reported as skipped."""
    return not line.strip(BLANK)


def is_comment(line: bytes) -> bool:
    """Return whether a line is a comment on the file, ``# duration: 100``, and not a frame whose name begins with #."""
    return line[:1] == b"#" and (line[1:2] in COMMENTED or b";" not in line) and line[1:2] != b"<"


def says_nothing(line: bytes) -> bool:
    """Return whether a line is blank or a comment, so that it need not be reported as skipped."""
    return is_blank(line) or is_comment(line)


def odd(line: bytes, *, columns: int) -> Tail | None:
    """Read the end of any line.

    Raises ``NotPairs`` for a line with a single count where two are expected, ``BadProfile`` for a stack whose count is
    a number that could mean something else.
    """
    if is_comment(line):
        return None
    found = tail(line, columns=columns)
    if found is None and columns > 1 and tail(line, columns=1):
        raise NotPairs
    if found is None and b";" in line:
        _check_count(line.rstrip(BLANK))
    return found


def _check_count(line: bytes) -> None:
    if count := _BELOW_ZERO.search(line):
        said = count[0].strip().decode()
        raise BadProfile(f"A count has a sign ({said:.40}), as in a difference. Upload both profiles and compare them")
    if count := _GROUPED.search(line):
        raise BadProfile(f"A count is written {count[0].strip().decode():.40}: leave out what separates its digits")
    count = _COUNT.fullmatch(line, max(map(line.rfind, (b" ", b"\t"))) + 1)
    if count is not None:
        raise BadProfile(f"A count is too large to add up: {count[0].decode():.40}")


def read(data: bytes, *, columns: int, limits: Limits) -> FoldedLines:
    """Read every line in turn: the simple way, which needs no library and defines what the fast one must return."""
    names = FrameCodes(limits)
    skipped = Skipped()
    stacks: list[list[int]] = []
    counts: list[tuple[int, ...]] = []
    parts: list[tuple[int, int, int]] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        found = odd(line, columns=columns)
        if found is None:
            if not says_nothing(line):
                skipped.add(number, line)
            continue
        codes = names(line[: found.end].split(b";"))
        codes = [code for code in codes if code != NO_FRAME] if NO_FRAME in codes else codes
        check_depth(len(codes), number, limits)
        parts += [(column, len(stacks), part) for column, part in enumerate(found.parts) if part]
        stacks.append(codes)
        counts.append(found.counts)
    lengths = list(map(len, stacks))
    check_size(len(stacks), sum(lengths), limits)
    frames = np.fromiter((code for codes in stacks for code in codes), dtype=np.int32, count=sum(lengths))
    columned = np.array(counts, dtype=np.int64).reshape(-1, columns).T
    offsets = np.fromiter(accumulate(lengths, initial=0), dtype=np.int64, count=len(lengths) + 1)
    ordered, rank = names.ordered()
    return FoldedLines(
        ordered, offsets, rank[frames], np.ascontiguousarray(columned), parts, skipped, samples=len(stacks)
    )


def check_depth(depth: int, line: int, limits: Limits) -> None:
    """Raise ``TooMuch`` for a stack deeper than we read."""
    if depth > limits.depth:
        raise TooMuch(f"A stack of {depth:,} frames is deeper than the limit of {limits.depth:,}", where=f"line {line}")


def check_size(stacks: int, frames: int, limits: Limits) -> None:
    """Raise ``TooMuch`` for more stacks, or more frames in them, than we read."""
    if stacks > limits.stacks:
        raise TooMuch(f"More than {limits.stacks:,} stacks")
    if frames > limits.frames:
        raise TooMuch(f"More than {limits.frames:,} frames")

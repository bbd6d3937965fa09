"""Folded stacks, one per line: from flamegraph.pl and its collapsers, bpftrace, py-spy, async-profiler, tracing-flame.

Counts are samples unless the file shows otherwise: tracing-flame, whose stacks begin with a thread, writes nanoseconds,
and Austin, which says so in comments, microseconds or bytes. A file is differential (two sample types, *before* and
*after*) if each of its lines ends in two counts and one of them has two frames or more; otherwise a number before the
count belongs to the name. Counts with fractions are read exactly to nine places and stored in thousandths, millionths
or billionths, whichever is the first to hold all.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from evidence.formats import Buffer
from evidence.formats.base import texts
from evidence.formats.folded import grammar, remarks
from evidence.formats.folded.grammar import LARGEST, PLACES, FoldedLines, NotPairs
from evidence.formats.folded.head import claim
from evidence.profile.errors import BadProfile, TooMuch
from evidence.profile.limits import DEFAULT, MIB, Limits
from evidence.profile.stacks import Ints, SampleType, Stacks

__all__ = ["NAME", "claim", "read"]

NAME = "folded"
# Below this size, loading Arrow takes longer than reading line by line.
SMALL = 3 * MIB
# The suffixes that collapsers append to a name. Names keep them, so that folding the result again gives the same text.
SUFFIXES = {
    "_[k]": "kernel", "_[j]": "jit", "_[1]": "jit", "_[i]": "inlined", "_[0]": "interpreted",
    "_[g]": "gpu", "_[G]": "gpu-source",
}  # fmt: skip
BOUNDARIES = {"-", "--"}
FRACTIONS = {3: "thousandths of samples", 6: "millionths of samples", 9: "billionths of samples"}
TRACING_THREAD = re.compile(r"ThreadId\(\d+\)|all-threads$")
TRACING_PLACE = re.compile(r"(.+?):[^:]*\.rs:\d+")


def read(data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
    """Read folded stacks in any dialect; other lines are skipped, counted and shown.

    Raises ``BadProfile`` if no line can be read, naming the first, ``TooMuch`` beyond ``limits``.
    """
    data = _with_line_ends(texts.in_utf8(data, limits=limits))
    lines = _differential(data, limits) or _lines(data, columns=1, limits=limits)
    if not len(lines.offsets) - 1:
        raise BadProfile("No line ends with a count", where=lines.skipped.where)
    said = remarks.of(data)
    if _of_tracing_flame(lines):
        return _tracing(lines)
    austin = remarks.austin(said)
    if austin and len(lines.counts) == 1:
        return _of_austin(lines, austin, said)
    return _stacks(lines, name="samples", unit="samples", **remarks.about(said))


def _with_line_ends(data: Buffer) -> Buffer:
    """Return text with line ends that we read, for text whose lines end in a bare carriage return, as on old Macs."""
    if data.find(b"\n") >= 0 or data.find(b"\r") < 0:
        return data
    return bytes(data[:]).replace(b"\r", b"\n")


def _lines(data: Buffer, *, columns: int, limits: Limits) -> FoldedLines:
    if len(data) < SMALL:
        return grammar.read(bytes(data), columns=columns, limits=limits)
    from evidence.formats.folded import blocks

    return blocks.read(data, columns=columns, limits=limits)


def _differential(data: Buffer, limits: Limits) -> FoldedLines | None:
    """Read two counts per line, if all lines have them and some stack shows that the first is not part of a name."""
    try:
        if not _begins_with_two(data):
            return None
        lines = _lines(data, columns=2, limits=limits)
    except NotPairs:
        return None
    return lines if np.diff(lines.offsets).max(initial=0) > 1 else None


def _begins_with_two(data: Buffer) -> bool:
    """Return whether the first readable line has two counts."""
    at = 0
    while at < len(data):
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        line = bytes(data[at:end])
        if not grammar.is_comment(line) and grammar.tail(line, columns=1):
            return grammar.tail(line, columns=2) is not None
        at = end + 1
    return False


def _of_tracing_flame(lines: FoldedLines) -> bool:
    """Return whether every stack begins with a thread as tracing-flame names them."""
    if not len(lines.frames) or not TRACING_THREAD.match(lines.names[lines.frames[0]]):
        return False  # for nearly every file, after one look
    begins = lines.offsets[:-1][np.diff(lines.offsets) > 0]
    return all(TRACING_THREAD.match(lines.names[code]) for code in np.unique(lines.frames[begins]))


def _tracing(lines: FoldedLines) -> Stacks:
    """Interpret tracing-flame's text: nanoseconds, and spans whose name ends before their source position.

    A span then keeps its name when its code moves, so that it can be compared with itself.
    """
    spans = [TRACING_PLACE.sub(r"\1", name) if TRACING_PLACE.fullmatch(name) else name for name in lines.names]
    lines.names = sorted(set(spans))
    code = {name: code for code, name in enumerate(lines.names)}
    lines.frames = np.array([code[name] for name in spans], dtype=np.int32)[lines.frames]
    return _stacks(lines, name="wall", unit="nanoseconds", dialect="tracing-flame")


def _of_austin(lines: FoldedLines, austin: remarks.Austin, said: list[str]) -> Stacks:
    """Interpret Austin's counts."""
    if _largest_sum(lines.counts) * austin.times > LARGEST:
        raise TooMuch("The counts overflow when added up")
    lines.counts *= austin.times
    return _stacks(lines, name=austin.type.name, unit=austin.type.unit, dialect="austin", **remarks.about(said))


def _stacks(lines: FoldedLines, *, name: str, unit: str, **about: Any) -> Stacks:
    places = _scale(lines)
    if places:
        unit = FRACTIONS[places] if unit == "samples" else unit
        about["scale"] = 10**places
    types: tuple[SampleType, ...] = (SampleType(name, unit),)
    if len(lines.counts) == 2:
        types = (SampleType("before", unit), SampleType("after", unit))
    return Stacks(
        NAME, types, lines.names, lines.offsets, lines.frames, lines.counts, list(map(hint_of, lines.names)),
        default_type=len(types) - 1, about={**about, **lines.skipped.about()}, samples=lines.samples,
    )  # fmt: skip


def hint_of(name: str) -> str:
    """Return the hint that a name's suffix gives."""
    return "boundary" if name in BOUNDARIES else SUFFIXES.get(name[-4:], "")


def _scale(lines: FoldedLines) -> int:
    """If some counts are not whole, convert all to whole numbers of a fraction; return its number of decimal places."""
    places = next(p for p in (0, *FRACTIONS) if all(part % 10 ** (PLACES - p) == 0 for _, _, part in lines.parts))
    if (_largest_sum(lines.counts) + len(lines.parts)) * 10**places > LARGEST:
        raise TooMuch("The counts overflow when added up")
    lines.counts *= 10**places
    for column, sample, part in lines.parts:
        lines.counts[column, sample] += part // 10 ** (PLACES - places)
    return places


def _largest_sum(counts: Ints) -> int:
    fits = int(counts.max(initial=0)) <= LARGEST // max(counts.shape[1], 1)
    return max(int(column.sum(dtype=np.int64 if fits else object)) for column in counts)

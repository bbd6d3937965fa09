"""The text of ``perf script``: samples of one or several events, each with its stack, innermost frame first.

A file repeats few stacks many times, so blocks are compared by their bytes and each distinct one is read once.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from evidence.formats.base import held, texts
from evidence.formats.perf import stack_lines
from evidence.formats.perf.blocks_of_samples import SampleReader
from evidence.formats.perf.sample_header import BARE, HEADER
from evidence.profile.claims import Certainty, Claim
from evidence.profile.errors import BadProfile, TooMuch
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.stacks import Stacks

if TYPE_CHECKING:
    from evidence.formats.perf.blocks import SampleLines

Buffer = bytes | mmap.mmap
Piece = bytes | memoryview

NAME = "perf script"
CHUNK = 1 << 18
# From this size on, Arrow is loaded and the text is read in columns, in large pieces, because threads search them and
# each of their many short steps may have to wait for Python.
LARGE = 16 << 20
LARGE_CHUNK = 16 << 20
# The share of meaningful lines that must belong to samples.
MOST, NEARLY_ALL = 0.5, 0.8
NOT, BARELY, LOOSELY, SURELY = range(4)


def claim(head: bytes) -> Claim | None:
    """Recognise headers with an event or a time, with stack lines below them."""
    lines = texts.lines(head)
    if not lines:
        return None
    begins = [_begins(line, following) for line, following in pairwise([*lines, b""])]
    fits = sum(map(_is_of_samples, lines, begins))
    share = fits / len(lines)
    if share < MOST or not any(begins):
        return None
    sure = SURELY in begins and share >= NEARLY_ALL
    why = f"{share:.0%} of its lines are headers of samples and the stacks below them".replace("%", " %")
    return Claim(Certainty.SURE if sure else Certainty.LIKELY, why)


def _begins(line: bytes, following: bytes) -> int:
    """Return how surely ``line`` opens a sample, given the ``following`` line."""
    header = HEADER.match(line)
    framed = _is_framed(following)
    if header and header[4]:
        if framed and header[2]:
            return SURELY
        alone = header[2] or stack_lines.is_sampled(line[header.end() :].strip())
        return LOOSELY if framed or alone else NOT
    if framed and header and not _is_framed(line):
        return LOOSELY
    if framed and BARE.match(line) and not _is_framed(line):
        return BARELY
    return LOOSELY if stack_lines.says_module(line) and stack_lines.says_module(following) else NOT


def _is_of_samples(line: bytes, begins: int) -> bool:
    """Return whether a line is a header, a stack line or a source line."""
    header = HEADER.match(line)
    return begins != NOT or bool(header and header[4]) or _is_framed(line) or stack_lines.is_source_line(line)


def _is_framed(line: bytes) -> bool:
    """Return whether a line is a stack line: indented, or with its module."""
    return (line[:1] in (b" ", b"\t") and stack_lines.read(line) is not None) or stack_lines.says_module(line)


def read(data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
    """Read all samples, each event in its own column, weighted by its period if one is printed.

    Other lines are skipped and counted; so is a truncated last line, with its sample. Raises ``BadProfile`` if no
    sample is found.
    """
    samples = SampleReader(data, limits=limits)
    try:
        _read(data, into=samples)
    except TooMuch as error:
        raise TooMuch(error.says, where=f"line {samples.place.line}") from error
    if not samples.gathered.counts:
        raise BadProfile("No samples found in what looks like perf script output", where=samples.place.skipped.where)
    return samples.stacks()


def _read(data: Buffer, *, into: SampleReader) -> None:
    for start, chunk, ended, found in _pieces(data):
        whole, cut = _whole(chunk) if ended and chunk[-1:] != b"\n" else (chunk, b"")
        held.leave(data, 0, start)
        into.open(whole, start=start)
        if found and ended and not cut and not into.lines.is_open:
            into.read_all(whole, found)
        else:
            _read_chunk(bytes(whole), ended=ended, into=into)
        if cut:
            into.lines.skip_cut(cut)
    into.lines.end()


def _pieces(data: Buffer) -> Iterator[tuple[int, Piece, bool, SampleLines | None]]:
    """Yield pieces of the text; those of a large one come with the samples in them."""
    if len(data) < LARGE:
        yield from ((*piece, None) for piece in _chunks(data, CHUNK))
    else:
        from evidence.formats.perf import blocks

        yield from blocks.found_in(_chunks(data, _even(len(data), LARGE_CHUNK, blocks.THREADS)))


def _even(length: int, most: int, threads: int) -> int:
    """Return a piece size, at most about ``most`` bytes, that keeps all threads busy to the end."""
    rounds = -(-length // (most * threads))
    return length // max(1, rounds * threads) + min(CHUNK, most)


def _chunks(data: Buffer, size: int) -> Iterator[tuple[int, Piece, bool]]:
    """Cut the text after blank lines, or after any line if blank ones are far apart; yield offset and piece.

    Large pieces are not copied.
    """
    seen = memoryview(data) if size > CHUNK else data
    dos = b"\r\n" in data[: 1 << 16]
    blank = b"\r\n\r\n" if dos else b"\n\n"
    at = 0
    while at < len(data):
        end, ended = min(at + size, len(data)), True
        if end < len(data):
            last = data.rfind(blank, at, end)
            ended = last >= 0
            end = last + len(blank) if ended else (data.rfind(b"\n", at, end) + 1) or end
        yield at, (data[at:end].replace(b"\r\n", b"\n") if dos else seen[at:end]), ended
        at = end


def _whole(piece: Piece) -> tuple[bytes, bytes]:
    """Split the last sample off a piece at the end of the file if it is truncated, because its callers are unknown."""
    chunk = bytes(piece)
    at = chunk.rfind(b"\n") + 1
    if at == len(chunk) or chunk.endswith(b")"):
        return chunk, b""
    block = max(chunk.rfind(b"\n\n") + 2, 0) if b"\n\n" in chunk else 0
    alone = chunk.count(b"\n", block) == 0 or HEADER.match(chunk[at:]) is not None
    cut = at if alone else block
    return chunk[:cut], chunk[cut:]


def _read_chunk(chunk: bytes, *, ended: bool, into: SampleReader) -> None:
    """Read the blocks between blank lines; one that was seen before costs a lookup."""
    if not ended or into.lines.is_open:
        first, _, chunk = chunk.partition(b"\n\n") if ended else (chunk, b"", b"")
        into.lines.read(first, ended=ended)
        into.place.at += len(first) + 2
    for block in chunk.split(b"\n\n"):
        if block:
            into.read(block)
        into.place.at += len(block) + 2

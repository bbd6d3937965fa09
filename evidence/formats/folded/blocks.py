"""Read large files of folded stacks in columns: numpy finds where frames end, Arrow assigns codes, on two threads.

A block of whole lines is copied to a buffer that may be changed. Every byte then belongs to one token: a frame with the
``;`` or the white space that ends it, or the rest of a line, which is its count or the whole of a bad line. Tokens are
adjacent, so that Arrow reads them in place; counts are blanked, so that there are few distinct tokens. Lines that do
not end in white space and plain digits are read one by one, by the ``grammar``.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evidence.formats import Buffer
from evidence.formats.base import held
from evidence.formats.base.skipped import Skipped
from evidence.formats.folded import grammar, repeats
from evidence.formats.folded.arrow import encoded
from evidence.formats.folded.digits import PAD, SLACK, Bytes, is_blank, tails
from evidence.formats.folded.grammar import FoldedLines, FrameCodes
from evidence.profile.limits import Limits
from evidence.profile.stacks import Codes, Ints

# How much is scanned at once: its arrays stay in the processor's cache, and in memory that is not given back.
TILE = 1 << 17
THREADS = min(2, os.cpu_count() or 1)
# The names in a block are looked up once, so larger blocks cost less, as long as each thread has some.
BLOCK = 8 << 20
BLOCKS = 2 * THREADS
END, JOINT, HASH = ord("\n"), ord(";"), ord("#")
# A longer count, in bytes, is not blanked.
MOST_BLANKED = 24
# With at most this many names, frames are stored in half the width until all blocks are read.
NARROW = 1 << 16


@dataclass(slots=True)
class Block:
    """The content of a block's lines; line numbers count from 0 within it, ``at`` are those of its stacks."""

    lines: int
    at: Ints
    frames: NDArray[np.integer[Any]]
    lengths: Ints
    counts: Ints
    parts: list[tuple[int, int, int]]
    skipped: list[tuple[int, bytes]]


@dataclass(slots=True)
class Ends:
    """The end of each line and of its stack (at white space, or not at all), its count, and whether it is bad."""

    lines: Ints
    stacks: Ints
    counts: Ints
    bad: NDArray[np.bool_]
    parts: list[tuple[int, int, int]] = field(default_factory=list)
    skipped: list[tuple[int, bytes]] = field(default_factory=list)


def read(data: Buffer, *, columns: int, limits: Limits) -> FoldedLines:
    """Read all lines, with the result of ``grammar.read`` but faster; equal stacks are added up if there are many."""
    if not len(data):
        return grammar.read(b"", columns=columns, limits=limits)
    reader = _Reader(data, columns, limits)
    blocks: list[Block] = []
    skipped = Skipped()
    lines = stacks = frames = 0
    with ThreadPoolExecutor(THREADS) as threads, closing(threads.map(reader.block, _bounds(data))) as read:  # type: ignore[type-var]  # it is a generator
        for block in read:
            for number, text in block.skipped:
                skipped.add(lines + number + 1, text)
            if len(block.lengths):
                deepest = int(block.lengths.argmax())
                grammar.check_depth(int(block.lengths[deepest]), lines + int(block.at[deepest]) + 1, limits)
            stacks, frames = stacks + len(block.lengths), frames + len(block.frames)
            grammar.check_size(stacks, frames, limits)
            lines += block.lines
            blocks.append(block)
    return _joined(blocks, columns, reader.names, skipped)


def _bounds(data: Buffer) -> Iterator[tuple[int, int]]:
    """Cut into blocks of whole lines."""
    size = max(min(BLOCK, len(data) // BLOCKS), 1)
    begin = 0
    while begin < len(data):
        end = data.rfind(b"\n", begin, begin + size) + 1
        if not end:
            end = data.find(b"\n", begin + size) + 1 or len(data)
        yield begin, end
        begin = end


def _joined(blocks: list[Block], columns: int, names: FrameCodes, skipped: Skipped) -> FoldedLines:
    """Join blocks; each is released once its frames are copied."""
    counts = np.concatenate([block.counts for block in blocks], axis=1)
    lengths = np.concatenate([block.lengths for block in blocks])
    samples = len(lengths)
    ordered, rank = names.ordered()
    repeated = not any(block.parts for block in blocks) and repeats.are_many(blocks[0].frames, blocks[0].lengths)
    if repeated and repeats.fit(together := np.concatenate([block.frames for block in blocks]), counts):
        blocks.clear()
        different, lengths, counts = repeats.added_up(together, lengths, counts)
        blocks = [Block(0, lengths, different, lengths, counts, [], [])]
    frames = np.empty(int(lengths.sum()), dtype=np.int32)
    parts: list[tuple[int, int, int]] = []
    sample = frame = 0
    for block in blocks:
        end = frame + len(block.frames)
        np.take(rank, block.frames, out=frames[frame:end], mode="clip")
        parts += [(column, sample + number, part) for column, number, part in block.parts]
        sample, frame = sample + len(block.lengths), end
        block.frames = rank[:0]
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return FoldedLines(ordered, offsets, frames, counts.reshape(columns, -1), parts, skipped, samples)


class _Reader:
    """Reads blocks of one file; each thread has its own buffers."""

    def __init__(self, data: Buffer, columns: int, limits: Limits) -> None:
        self._data = data
        self._bytes = np.frombuffer(data, dtype=np.uint8)
        self._columns = columns
        self._room = threading.local()
        self.names = FrameCodes(limits)

    def block(self, bounds: tuple[int, int]) -> Block:
        """Read the lines between two offsets in the file."""
        begin, end = bounds
        source = self._bytes[begin:end]
        padded, text, room = self._given(len(source) + (source[-1] != END))
        joints = _joints(source, text, room)
        held.leave(self._data, begin, end)
        at = np.flatnonzero(text[joints] == END)
        ends = self._ends(padded, joints[at].astype(np.int64))
        _blank(text, ends)
        frames, lengths = self._frames(text, *_tokens(text, joints, at, ends))
        good = np.flatnonzero(~ends.bad)
        parts = [(column, int(np.searchsorted(good, number)), part) for column, number, part in ends.parts]
        return Block(len(ends.lines), good, frames, lengths[good], ends.counts[:, good], parts, ends.skipped)

    def _given(self, size: int) -> tuple[Bytes, Bytes, Codes]:
        """Return buffers for a text, padded and bare, and for the positions of its joints."""
        needed = PAD + size + SLACK
        if len(getattr(self._room, "bytes", b"")) < needed:
            self._room.bytes = np.empty(max(needed, PAD + BLOCK + 1 + SLACK), dtype=np.uint8)
            self._room.joints = np.empty(len(self._room.bytes), dtype=np.int32)
        padded: Bytes = self._room.bytes[:needed]
        padded[:PAD] = END
        return padded, padded[PAD:-SLACK], self._room.joints

    def _ends(self, padded: Bytes, lines: Ints) -> Ends:
        """Read the ends of all lines."""
        stacks, counts, plain = tails(padded, lines, columns=self._columns)
        ends = Ends(lines, stacks, counts, np.zeros(len(lines), dtype=np.bool_))
        begins = np.zeros_like(lines)
        begins[1:] = lines[:-1] + 1
        odd = ~plain | (padded[PAD + begins] == HASH)
        for number in np.flatnonzero(odd).tolist():
            begin = int(begins[number])
            self._odd(ends, number, begin, padded[PAD + begin : PAD + int(lines[number])].tobytes())
        return ends

    def _odd(self, ends: Ends, number: int, begin: int, line: bytes) -> None:
        found = grammar.odd(line, columns=self._columns)
        ends.bad[number] = found is None
        if found is None:
            ends.stacks[number] = ends.lines[number] - 1
            if not grammar.says_nothing(line):
                ends.skipped.append((number, line))
            return
        ends.stacks[number] = begin + found.end
        ends.counts[:, number] = found.counts
        ends.parts += [(column, number, part) for column, part in enumerate(found.parts) if part]

    def _frames(self, text: Bytes, tokens: Codes, lines: Ints) -> tuple[NDArray[np.integer[Any]], Ints]:
        """Return the codes of frames and the number per line; ``lines`` are the indices of tokens that end a line."""
        offsets = np.zeros(len(tokens) + 1, dtype=np.int32)
        np.add(tokens, 1, out=offsets[1:])
        found = encoded(text, offsets)
        written = np.array(self.names(found.dictionary.to_pylist()), dtype=np.int32)
        codes = written.take(found.indices.to_numpy(), mode="clip")
        are = codes >= 0
        frames: NDArray[np.integer[Any]] = codes[are]
        if len(self.names.codes) <= NARROW:
            frames = frames.astype(np.uint16)
        lengths = np.diff(lines, prepend=-1) - 1
        if len(frames) != int(lengths.sum()):
            lengths = np.diff(np.cumsum(are)[lines], prepend=0)
        return frames, lengths


def _joints(source: Bytes, text: Bytes, room: Codes) -> Codes:
    """Copy a text to a buffer where counts may be blanked; return the ends of lines and of all but their last frames.

    A last line without a newline gets one.
    """
    size = 0
    text[-1] = END
    is_joint, is_end = np.empty(TILE, dtype=np.bool_), np.empty(TILE, dtype=np.bool_)
    for begin in range(0, len(text), TILE):
        tile = text[begin : begin + TILE]
        part = source[begin : begin + TILE]
        tile[: len(part)] = part
        joint, end = is_joint[: len(tile)], is_end[: len(tile)]
        np.equal(tile, JOINT, out=joint)
        np.equal(tile, END, out=end)
        np.logical_or(joint, end, out=joint)
        found = np.flatnonzero(joint)
        np.add(found, begin, out=room[size : size + len(found)], casting="unsafe")
        size += len(found)
    return room[:size]


def _blank(text: Bytes, ends: Ends) -> None:
    """Overwrite counts with line ends."""
    after = ends.stacks + 1
    long = ends.lines - after
    for back in range(1, min(int(long.max(initial=0)), MOST_BLANKED) + 1):
        text[np.maximum(ends.lines - back, after)] = END


def _tokens(text: Bytes, joints: Codes, at: Ints, ends: Ends) -> tuple[Codes, Ints]:
    """Return where all tokens end, and which of them end lines; ``at`` says which of the joints do.

    The last frame of a stack gets the ``;`` that ends the others, so that a name is the same token everywhere.
    """
    if ends.bad.any():
        line = np.repeat(np.arange(len(at)), np.diff(at, prepend=-1))
        keep = ~ends.bad[line]
        keep[at] = True
        joints = joints[keep]
        at = np.cumsum(keep)[at] - 1
    stacked = is_blank(text[ends.stacks]) & ~ends.bad
    shift = np.cumsum(stacked)
    lines = at + shift
    leaves = (lines - 1)[stacked]
    tokens = np.empty(len(joints) + len(leaves), dtype=np.int32)
    inner = np.ones(len(tokens), dtype=np.bool_)
    inner[leaves] = False
    tokens[inner] = joints
    tokens[leaves] = last = ends.stacks[stacked]
    text[last] = JOINT
    return tokens, lines

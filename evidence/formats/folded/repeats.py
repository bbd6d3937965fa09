"""Merge equal stacks and add up their counts: tracers write a line each time they look, mostly repeats.

A stack is the bytes of its codes: Arrow compares those faster than lines of text, and faster than growing trees.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evidence.formats.folded.arrow import encoded
from evidence.formats.folded.grammar import LARGEST
from evidence.profile.stacks import Ints

Frames = NDArray[np.integer[Any]]
LOOKED_AT = 1 << 13
# If more than this share of a file's first stacks are distinct, adding up equal ones costs more than it saves.
DIFFERENT = 0.85
# Arrow counts bytes in 32 bits.
MOST_BYTES = 1 << 31


def are_many(frames: Frames, lengths: Ints) -> bool:
    """Return whether the first stacks of a file show that they repeat."""
    first = lengths[:LOOKED_AT]
    return len(_told_apart(frames[: int(first.sum())], first).dictionary) < DIFFERENT * len(first)


def fit(frames: Frames, counts: Ints) -> bool:
    """Return whether all stacks can be compared at once, and counts added up whichever of their stacks are equal."""
    largest = int(counts.max(initial=0))
    return frames.nbytes < MOST_BYTES and largest <= LARGEST // max(counts.shape[1], 1)


def added_up(frames: Frames, lengths: Ints, counts: Ints) -> tuple[Frames, Ints, Ints]:
    """Return the distinct stacks in order of first appearance, and what each counts in all.

    ``frames`` holds the codes of all stacks, ``lengths`` how many each has; ``counts`` has one row per column.
    """
    found = _told_apart(frames, lengths)
    place = found.indices.to_numpy()
    sums = np.zeros((len(counts), len(found.dictionary)), dtype=np.int64)
    for row, column in zip(sums, counts, strict=True):
        np.add.at(row, place, column)
    _, offsets, data = found.dictionary.buffers()
    ends = np.frombuffer(offsets, dtype=np.int32, count=sums.shape[1] + 1).astype(np.int64) // frames.itemsize
    size = int(ends[-1])
    different = np.frombuffer(data, dtype=frames.dtype, count=size) if size else frames[:0]
    return different, np.diff(ends), sums


def _told_apart(frames: Frames, lengths: Ints) -> pa.DictionaryArray:
    offsets = np.zeros(len(lengths) + 1, dtype=np.int32)
    np.cumsum(lengths * frames.itemsize, out=offsets[1:])
    return encoded(frames, offsets)

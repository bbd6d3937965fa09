"""Make one of equal stacks, whose counts are added up: tracers write a line for each time they look, most seen before.

A stack is the bytes of its codes, which Arrow tells apart sooner than lines of text, and sooner than trees are grown.
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
# With more different stacks than this among the first of a file, adding equal ones up costs more than it saves.
DIFFERENT = 0.85
# Arrow counts bytes in 32 bits.
MOST_BYTES = 1 << 31


def are_many(frames: Frames, lengths: Ints) -> bool:
    """Tell by the first stacks of a file whether they repeat."""
    first = lengths[:LOOKED_AT]
    return len(_told_apart(frames[: int(first.sum())], first).dictionary) < DIFFERENT * len(first)


def fit(frames: Frames, counts: Ints) -> bool:
    """Tell whether stacks can be told apart at once, and counts added up whichever of their stacks are equal."""
    largest = int(counts.max(initial=0))
    return frames.nbytes < MOST_BYTES and largest <= LARGEST // max(counts.shape[1], 1)


def added_up(frames: Frames, lengths: Ints, counts: Ints) -> tuple[Frames, Ints, Ints]:
    """Return the different stacks in the order in which they are met, and what each counts in all.

    ``frames`` holds the codes of all stacks, as many of each as ``lengths`` says; ``counts`` one row a column.
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

"""Find ends of stack lines that differ only in the offset into their function: *symbol+0x1f (module)*. Pure.

A function is sampled at many offsets, and its name is read once for all of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evidence.formats.perf.names import HEX, LONGEST
from evidence.profile.stacks import Codes, Ints

Bytes = NDArray[np.uint8]
SPACE, OPENING = b" ("
PLUS, ZERO, X = b"+0x"
# Offsets with more digits are kept.
MOST_DIGITS = 16
_DIGITS = np.zeros(256, dtype=np.bool_)
_DIGITS[list(HEX)] = True


def without_offsets(text: Bytes, offsets: Codes) -> tuple[Bytes, Codes]:
    """Return a text, in parts between ``offsets``, without the digits after the last *+0x* before a module."""
    begins, ends = offsets[:-1].astype(np.int64), offsets[1:].astype(np.int64)
    places = np.flatnonzero((text[:-1] == SPACE) & (text[1:] == OPENING))
    if not len(places):
        return text, offsets
    # For each part, the position of its last ` (`, and the digits before that.
    nth = np.searchsorted(places, ends - 1) - 1
    modules = np.where(nth >= 0, places[np.maximum(nth, 0)], -1)
    offset = (modules >= begins) & (ends - begins < LONGEST // 2)
    last = np.where(offset, modules - 1, begins)
    for _ in range(MOST_DIGITS):
        inside = offset & (last >= begins) & _DIGITS[text[last]]
        if not inside.any():
            break
        last = last - inside
    offset &= last - 2 >= begins
    for back, mark in enumerate((X, ZERO, PLUS)):
        offset &= text[np.maximum(last - back, 0)] == mark
    digits: Ints = np.where(offset, modules - last - 1, 0)
    some = digits > 0
    edges = np.zeros(len(text) + 1, dtype=np.int8)
    edges[last[some] + 1] = 1
    edges[modules[some]] = -1
    left = np.cumsum(edges[:-1], dtype=np.int8) == 0
    return text[left], offsets - np.concatenate([np.zeros(1, dtype=np.int32), np.cumsum(digits)]).astype(np.int32)

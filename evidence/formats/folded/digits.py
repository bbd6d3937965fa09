"""Read the counts at the ends of many lines at once: the processor treats eight bytes as one number. Pure: numpy alone.

Texts are *padded*: ``PAD`` line-ending bytes precede the first byte and ``SLACK`` bytes follow the last, so that
looking around needs no bounds checks; positions count from that first byte.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evidence.profile.stacks import Ints

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]
PAD = 32
SLACK = 16
# Counts with more digits, or more white space than this before the end of the line, are read one by one.
MOST_DIGITS = 15
MOST_BLANKS = 16
_W = np.uint64


def tails(padded: Bytes, ends: Ints, *, columns: int) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """Return where stacks end, their counts, and which lines end plainly, in digits after white space.

    ``ends`` are the positions of the newlines. For lines that do not end plainly, the other values are meaningless.
    """
    counts = np.zeros((columns, len(ends)), dtype=np.int64)
    plain = np.ones(len(ends), dtype=np.bool_)
    last = ends - 1
    for column in reversed(range(columns)):
        last = before_blanks(padded, last)
        counts[column], digits = numbers(padded, last)
        last = last - digits
        plain &= (digits > 0) & (digits <= MOST_DIGITS) & is_blank(padded[last + PAD])
    return last, counts, plain


def is_blank(bytes: Bytes) -> NDArray[np.bool_]:
    """Return which bytes are white space within a line."""
    return np.asarray((bytes == 32) | (bytes == 9) | (bytes == 13))


def before_blanks(padded: Bytes, last: Ints) -> Ints:
    """Move each position to the left, past at most ``MOST_BLANKS`` bytes of white space."""
    for _ in range(MOST_BLANKS):
        blank = is_blank(padded[last + PAD])
        if not blank.any():
            break
        last = last - blank
    return last


def numbers(padded: Bytes, last: Ints) -> tuple[Ints, Ints]:
    """Return the numbers that end at these positions, and how many digits they have, at most sixteen."""
    value, digits = _eight(padded, last)
    long = np.flatnonzero(digits == 8)
    if len(long):
        more, further = _eight(padded, last[long] - 8)
        value[long] += more * 10**8
        digits[long] += further
    return value, digits


def _eight(padded: Bytes, last: Ints) -> tuple[Ints, Ints]:
    """Return the numbers of up to eight digits that end at these positions, and how many digits they have."""
    begins = last + (PAD - 7)
    words = padded[: len(padded) & ~7].view("<u8")
    low, high = words.take(begins >> 3, mode="clip"), words.take((begins >> 3) + 1, mode="clip")
    shift = ((begins & 7) << 3).astype(np.uint64)
    word = (low >> shift) | ((high << (_W(63) - shift)) << _W(1))
    word ^= _W(0x3030303030303030)
    other = (((word & _W(0x7F7F7F7F7F7F7F7F)) + _W(0x7676767676767676)) | word) & _W(0x8080808080808080)
    # The last byte is the most significant; the most significant byte that is not a digit tells how many follow it.
    digits = 7 - ((np.frexp(other.astype(np.float64))[1].astype(np.int64) - 1) >> 3)
    some = digits > 0
    shift = (8 * (8 - digits)).astype(np.uint64) * some
    word = np.where(some, (word >> shift) << shift, _W(0))
    word = (word * _W(10) + (word >> _W(8))) & _W(0x00FF00FF00FF00FF)
    word = (word * _W(100) + (word >> _W(16))) & _W(0x0000FFFF0000FFFF)
    word = (word * _W(10000) + (word >> _W(32))) & _W(0x00000000FFFFFFFF)
    return word.astype(np.int64), digits

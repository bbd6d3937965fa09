"""Recognise stack lines in their usual form: a tab, an address of fixed width, a space. Pure.

The processor treats eight characters of the address as one number, so that all of them are checked together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evidence.formats.perf.names import HEX
from evidence.profile.stacks import Ints

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]
# From the tab to the symbol: the address takes sixteen characters, padded with blanks on the left.
WIDTH = 18
TAB, SPACE, CLOSING = b"\t )"
_W = np.uint64
_HIGH, _LOW = _W(0x8080808080808080), _W(0x7F7F7F7F7F7F7F7F)
_IS_DIGIT = np.zeros(256, dtype=np.bool_)
_IS_DIGIT[list(HEX)] = True
_FIRST, _LAST = _W(0x80), _W(63)


def are_usual(text: Bytes, begins: Ints, ends: Ints) -> NDArray[np.bool_]:
    """Return which lines have their symbol after a tab, an address and a space, and end with their module."""
    usual = (ends - begins > WIDTH + 1) & (begins <= len(text) - 24)
    if not usual.any():
        return usual
    at = begins if usual.all() else np.where(usual, begins, begins[np.argmax(usual)])
    lines = np.ndarray(len(text) - 23, dtype="V24", buffer=text, strides=(1,))[at]
    bytes_of, words_of = lines.view(np.uint8).reshape(-1, 24), lines.view("<u8").reshape(-1, 3)
    usual &= bytes_of[:, 0] == TAB
    usual &= bytes_of[:, WIDTH - 1] == SPACE
    usual &= text[ends - 1] == CLOSING
    usual &= _IS_DIGIT[bytes_of[:, WIDTH - 2]]
    # Each character is a blank or a digit, and a digit is followed by a digit.
    begin, middle = words_of[:, 0], words_of[:, 1]
    digits, more = _digits(begin), _digits(middle)
    usual &= (digits | _blanks(begin) | _FIRST) & (more | _blanks(middle)) == _HIGH
    usual &= ((digits << _W(8)) & ~digits) | ((more << _W(8)) & ~more) == 0
    usual &= digits >> _LAST <= (more & _FIRST)
    return usual


def _digits(words: Words) -> Words:
    """Set the highest bit of each byte that is a hexadecimal digit as perf writes them; the other bits are clear."""
    plain = words & _LOW
    decimal = _from(plain, b"0") & ~_from(plain, b":")
    return (decimal | _from(plain, b"a") & ~_from(plain, b"g")) & ~words & _HIGH


def _blanks(words: Words) -> Words:
    """Set the highest bit of each byte that is a space; the other bits are clear."""
    other = words ^ _all(b" ")
    return ~(((other & _LOW) + _LOW) | other) & _HIGH


def _from(plain: Words, first: bytes) -> Words:
    """Set the highest bit of each byte, all below 128, that is at least ``first``; the other bits are meaningless."""
    return plain + (_HIGH - _all(first))


def _all(byte: bytes) -> np.uint64:
    return _W(int.from_bytes(byte * 8))

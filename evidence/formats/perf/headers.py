"""Read many sample headers at once, from their ends: *comm pid/tid [cpu] time: period event:*. Pure."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evidence.formats.folded import digits
from evidence.formats.folded.digits import MOST_DIGITS, PAD, SLACK, Bytes, before_blanks, is_blank
from evidence.profile.stacks import Ints

Bools = NDArray[np.bool_]
# A header with a longer event name, in bytes, is read individually.
LONGEST_EVENT = 48
COLON, POINT, END, SLASH, OPENING, CLOSING = b":.\n/[]"


class Headers(NamedTuple):
    """Where the parts of the ``usual`` headers begin and end; the others are read one by one.

    ``who`` is only the name of the thread; time and event are without the colon after them.
    """

    usual: Bools
    who: tuple[Ints, Ints]
    times: tuple[Ints, Ints]
    events: tuple[Ints, Ints]
    periods: Ints


def read(text: Bytes, begins: Ints, ends: Ints) -> Headers:
    """Read the headers between pairs of offsets."""
    padded = np.full(PAD + len(text) + SLACK, END, dtype=np.uint8)
    padded[PAD : PAD + len(text)] = text
    event_ends = before_blanks(padded, ends - 1)
    usual = padded[event_ends + PAD] == COLON
    last = _before_word(padded, event_ends)
    event_begins = last + 1
    usual &= is_blank(padded[last + PAD]) & (event_ends > event_begins)
    periods, last = _number(padded, before_blanks(padded, last), usual)
    usual &= is_blank(padded[last + PAD])
    time_ends = last = before_blanks(padded, last)
    usual &= padded[last + PAD] == COLON
    _, last = _number(padded, last - 1, usual)
    usual &= padded[last + PAD] == POINT
    _, last = _number(padded, last - 1, usual)
    usual &= is_blank(padded[last + PAD])
    who_ends = _before_process(padded, before_blanks(padded, last), usual) + 1
    usual &= who_ends > begins
    return Headers(usual, (begins, who_ends), (last + 1, time_ends), (event_begins, event_ends), periods)


def _before_process(padded: Bytes, last: Ints, usual: Bools) -> Ints:
    """Move each offset to the left, past *pid*, *pid/tid* or either with *[cpu]* after it, and blanks."""
    with_cpu = padded[last + PAD] == CLOSING
    if with_cpu.any():
        _, before = _number(padded, np.where(with_cpu, last - 1, last), usual)
        usual &= (padded[before + PAD] == OPENING) | ~with_cpu
        last = np.where(with_cpu, before_blanks(padded, before - 1), last)
    _, before = _number(padded, last, usual)
    with_thread = padded[before + PAD] == SLASH
    if with_thread.any():
        _, process = _number(padded, np.where(with_thread, before - 1, last), usual)
        before = np.where(with_thread, process, before)
    usual &= is_blank(padded[before + PAD])
    return before_blanks(padded, before)


def _before_word(padded: Bytes, last: Ints) -> Ints:
    """Move each offset to the blank, or the line end, before a word."""
    for _ in range(LONGEST_EVENT):
        byte = padded[last + PAD]
        inside = ~(is_blank(byte) | (byte == END))
        if not inside.any():
            break
        last = last - inside
    return last


def _number(padded: Bytes, last: Ints, usual: Bools) -> tuple[Ints, Ints]:
    """Read the numbers that end at these offsets, if they are ``usual``; also return the offsets before them."""
    numbers, size = digits.numbers(padded, np.where(usual, last, 0))
    usual &= (size > 0) & (size <= MOST_DIGITS)
    return numbers, np.where(usual, last - size, 0)

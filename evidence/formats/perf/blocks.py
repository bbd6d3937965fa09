"""Find the distinct lines of large ``perf script`` texts in columns: numpy splits them, Arrow numbers equal ones.

A recording of a whole machine repeats hardly a stack, and hardly a line, because each process has the same code at
other addresses. So lines are compared by what follows the address, which mostly repeats. Lines without a tab, a
sixteen-character address and a symbol with its module are read one by one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow._compute import call_function  # importing pyarrow.compute takes 50 ms, for functions we do not call

from evidence.formats.perf import address, headers, same_code
from evidence.formats.perf.equal import EqualSamples
from evidence.formats.perf.headers import Headers
from evidence.formats.perf.names import NOT_A_FRAME
from evidence.profile.stacks import Codes, Ints

Bytes = NDArray[np.uint8]
Piece = bytes | memoryview
# How many threads look for samples, and how many pieces may wait to be read.
THREADS = 2
END = b"\n"[0]


@dataclass(slots=True)
class SampleLines:
    """The samples in a piece of text: where each begins and ends, and its header.

    ``who`` and ``events`` are the distinct words of headers, with each sample's index into them. ``heads`` are the
    headers themselves. ``told`` are the ends of stack lines, from the symbol on, one for all lines of the same code,
    and ``symbols`` the same without the offset into the function; sample ``i`` has ``sizes[i]`` lines, whose indices
    into ``told`` are in ``lines``, -1 for those that are read individually.
    """

    begins: Ints
    ends: Ints
    heads: Bytes
    headers: Headers
    who: tuple[Codes, list[bytes]]
    events: tuple[Codes, list[bytes]]
    sizes: Ints
    lines: Codes
    symbols: list[bytes]
    told: list[bytes]

    def stacks(self, codes: Codes) -> tuple[Ints, list[bytes]]:
        """Return for each sample the number of its stack, -1 if a line is no frame, and the distinct stacks.

        ``codes`` are those of the lines in ``told``; stacks are those codes as bytes, root first.
        """
        frames = np.append(codes, np.int32(NOT_A_FRAME)).astype(np.int32)[self.lines]
        edges = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(self.sizes)])
        wrong = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(frames == NOT_A_FRAME)])[edges]
        offsets = (4 * (edges[-1] - edges[::-1])).astype(np.int32)
        stack, told = _different(np.ascontiguousarray(frames[::-1]).view(np.uint8), offsets)
        usual = (np.diff(wrong) == 0) & (self.sizes > 0)
        return np.where(usual, stack[::-1], NOT_A_FRAME), told

    def equal(self, stacks: Ints, usual: Callable[[bytes, bytes], bool]) -> EqualSamples:
        """Group samples with the same thread, event and stack, given the numbers of their stacks.

        ``usual`` says for a thread and an event whether that is a sample at all.
        """
        (who, by_who), (event, by_event) = self.who, self.events
        pairs = who.astype(np.int64) * len(by_event) + event
        for pair in np.unique(pairs[who >= 0]).tolist():
            one, other = divmod(pair, len(by_event))
            if not usual(by_who[one], by_event[other]):
                stacks = np.where((who == one) & (event == other), NOT_A_FRAME, stacks)
        return EqualSamples([np.where(who >= 0, pairs, NOT_A_FRAME), stacks], self.headers.periods)

    def pair(self, number: int) -> tuple[bytes, bytes]:
        """Return the thread and the event of the group whose first sample has this number."""
        who, event = divmod(number, len(self.events[1]))
        return self.who[1][who], self.events[1][event]

    def time(self, sample: int) -> bytes:
        """Return a sample's time as printed."""
        begins, ends = self.headers.times
        return self.heads[int(begins[sample]) : int(ends[sample])].tobytes()


def found_in(pieces: Iterable[tuple[int, Piece, bool]]) -> Iterator[tuple[int, Piece, bool, SampleLines]]:
    """Yield pieces of text with their samples, which are searched for while earlier pieces are read."""
    waiting: deque[tuple[tuple[int, Piece, bool], Future[SampleLines]]] = deque()
    with ThreadPoolExecutor(THREADS) as threads:
        for piece in pieces:
            waiting.append((piece, threads.submit(samples, piece[1])))
            if len(waiting) > THREADS:
                first, found = waiting.popleft()
                yield *first, found.result()
        for first, found in waiting:
            yield *first, found.result()


def samples(chunk: Piece) -> SampleLines:
    """Find the samples between blank lines, and the distinct stack lines among them."""
    text = np.frombuffer(chunk, dtype=np.uint8)
    ends = np.flatnonzero(text == END)
    if not len(text) or text[-1] != END:
        ends = np.append(ends, len(text))
    begins = np.zeros_like(ends)
    begins[1:] = ends[:-1] + 1
    blank = ends == begins
    opens, closes = ~blank, ~blank
    opens[1:] &= blank[:-1]
    closes[:-1] &= blank[1:]
    first, last = np.flatnonzero(opens), np.flatnonzero(closes)
    stacked = np.flatnonzero(~(blank | opens))
    lines, symbols, told = _told(text, begins[stacked], ends[stacked])
    heads, edges = _joined(text, begins[first], np.minimum(ends[first] + 1, len(text)))
    found = headers.read(heads, edges[:-1], edges[1:] - (heads[edges[1:] - 1] == END))
    who, events = (_words(heads, *part, found.usual) for part in (found.who, found.events))
    return SampleLines(begins[first], ends[last], heads, found, who, events, last - first, lines, symbols, told)


def _words(text: Bytes, begins: Ints, ends: Ints, usual: NDArray[np.bool_]) -> tuple[Codes, list[bytes]]:
    """Return the number of a word in each header, -1 if that is unusual, and the distinct words."""
    numbers = np.full(len(begins), NOT_A_FRAME, dtype=np.int32)
    numbers[usual], words = _between(text, begins[usual], ends[usual])
    return numbers, words


def _told(text: Bytes, begins: Ints, ends: Ints) -> tuple[Codes, list[bytes], list[bytes]]:
    """Return for each stack line the number of its code, -1 for an unusual line; the codes; and one line end each."""
    usual = np.flatnonzero(address.are_usual(text, begins, ends))
    lines = np.full(len(begins), NOT_A_FRAME, dtype=np.int32)
    found = _encoded(*_parts(text, begins[usual] + address.WIDTH, ends[usual]))
    numbers, symbols, told = _of_code(found.dictionary)
    lines[usual] = numbers[found.indices.to_numpy()]
    return lines, symbols, told


def _of_code(ends: pa.BinaryArray) -> tuple[Codes, list[bytes], list[bytes]]:
    """Return the number of the code of each line end, the codes, and the first line end of each."""
    _, offsets, text = ends.buffers()
    if text is None or not len(ends):
        return np.zeros(len(ends), dtype=np.int32), ends.to_pylist(), ends.to_pylist()
    edges = np.frombuffer(offsets, dtype=np.int32)[ends.offset : ends.offset + len(ends) + 1]
    content = np.frombuffer(text, dtype=np.uint8)[: edges[-1]]
    numbers, symbols = _different(*same_code.without_offsets(content, edges))
    first = np.flatnonzero(np.diff(np.maximum.accumulate(numbers), prepend=-1))
    return numbers, symbols, call_function("take", [ends, pa.array(first)]).to_pylist()


def _between(text: Bytes, begins: Ints, ends: Ints) -> tuple[Codes, list[bytes]]:
    """Return the number of the text between each pair of consecutive offsets, and the texts."""
    return _different(*_parts(text, begins, ends))


def _joined(text: Bytes, begins: Ints, ends: Ints) -> tuple[Bytes, Ints]:
    """Return the parts of a text concatenated, and where each begins; the end comes last."""
    array, chosen = _array(*_parts(text, begins, ends)[:2]), np.arange(1, 2 * len(begins), 2)
    _, offsets, joined = call_function("take", [array, pa.array(chosen)]).buffers()
    edges = np.frombuffer(offsets, dtype=np.int32)[: len(begins) + 1].astype(np.int64)
    return np.frombuffer(joined or b"", dtype=np.uint8)[: edges[-1]], edges


def _parts(text: Bytes, begins: Ints, ends: Ints) -> tuple[Bytes, Codes, Ints]:
    """Return a text, where it is cut at consecutive offsets, and which parts are between the two of a pair."""
    offsets = np.zeros(2 * len(begins) + 1, dtype=np.int32)
    offsets[1::2], offsets[2::2] = begins, ends
    return text, offsets, np.arange(1, 2 * len(begins), 2)


def _different(text: Bytes, offsets: Codes, chosen: Ints | None = None) -> tuple[Codes, list[bytes]]:
    """Return the number of each part of a text, and the distinct parts; ``chosen`` selects some parts."""
    found = _encoded(text, offsets, chosen)
    return found.indices.to_numpy(), found.dictionary.to_pylist()


def _encoded(text: Bytes, offsets: Codes, chosen: Ints | None = None) -> pa.DictionaryArray:
    array = _array(text, offsets)
    if chosen is not None:
        array = call_function("take", [array, pa.array(chosen)])
    return call_function("dictionary_encode", [array])


def _array(text: Bytes, offsets: Codes) -> pa.BinaryArray:
    return pa.Array.from_buffers(pa.binary(), len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(text)])

"""Named arrays and words in one file that can be mapped into memory. Pure: numpy alone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from operator import eq
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from evidence.profile.errors import Unreadable

MAGIC = b"FKTREE1\n"
ALIGN = 64
AT_ONCE = 1 << 12


def write(path: Path, *, head: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], words: Sequence[str]) -> None:
    """Write a head of plain values, arrays by name, and a list of words; arrays keep their shape and type."""
    encoded = [word.encode("utf-8", "surrogatepass") for word in words]
    ends = np.fromiter(accumulate(map(len, encoded)), dtype=np.int64, count=len(encoded))
    parts = {**arrays, "word_ends": ends, "word_bytes": np.frombuffer(b"".join(encoded), dtype=np.uint8)}
    table: dict[str, tuple[str, list[int], int]] = {}
    at = 0
    for key, array in parts.items():
        table[key] = (array.dtype.str, list(array.shape), at)
        at += -(-array.nbytes // ALIGN) * ALIGN
    body = json.dumps({"head": head, "arrays": table}, separators=(",", ":")).encode()
    start = -(-(len(MAGIC) + 8 + len(body)) // ALIGN) * ALIGN
    with path.open("wb") as file:
        file.write(MAGIC + len(body).to_bytes(8, "little") + body)
        for key, array in parts.items():
            file.seek(start + table[key][2])
            file.write(np.ascontiguousarray(array).data if array.nbytes else b"")
        file.truncate(start + at)


class Words(Sequence[str]):
    """Words in a mapped file; each is read on demand, so that opening is fast however many there are."""

    def __init__(self, ends: NDArray[np.int64], text: NDArray[np.uint8]) -> None:
        self._ends = ends
        self._text = text

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        at = range(len(self))[place]
        return _word(self._text[self._ends[at - 1] if at else 0 : self._ends[at]].tobytes())

    def __iter__(self) -> Iterator[str]:
        for low in range(0, len(self), AT_ONCE):
            yield from self._read(low, min(low + AT_ONCE, len(self)))

    def _read(self, low: int, high: int) -> Iterator[str]:
        start = int(self._ends[low - 1]) if low else 0
        ends = (self._ends[low:high] - start).tolist()
        text = self._text[start : start + ends[-1]].tobytes()
        return (_word(text[one:two]) for one, two in pairwise([0, *ends]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]  # like a list


def _word(encoded: bytes) -> str:
    return encoded.decode("utf-8", "surrogatepass")


def read(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]], Words]:
    """Map a file: the head, the arrays (read-only views in their original shape), and the words.

    Raises ``Unreadable`` for a file written by another version.
    """
    data = np.memmap(path, dtype=np.uint8, mode="r")
    if bytes(data[: len(MAGIC)]) != MAGIC:
        raise Unreadable("This was stored by another version. Process the evidence again.")
    length = int.from_bytes(bytes(data[len(MAGIC) : len(MAGIC) + 8]), "little")
    body = json.loads(bytes(data[len(MAGIC) + 8 : len(MAGIC) + 8 + length]))
    start = -(-(len(MAGIC) + 8 + length) // ALIGN) * ALIGN
    arrays = {key: _view(data, start, *where) for key, where in body["arrays"].items()}
    return body["head"], arrays, Words(arrays.pop("word_ends"), arrays.pop("word_bytes"))


def _view(data: NDArray[np.uint8], start: int, dtype: str, shape: list[int], at: int) -> NDArray[Any]:
    size = np.dtype(dtype).itemsize * int(np.prod(shape))
    return np.asarray(data[start + at : start + at + size]).view(dtype).reshape(shape)

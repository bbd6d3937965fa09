"""Named arrays and words in one file that can be mapped into memory. Pure: numpy alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evidence.errors import Unreadable

MAGIC = b"FKTREE1\n"
ALIGN = 64


def write(path: Path, *, head: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], words: Sequence[str]) -> None:
    """Write a head of plain values, arrays by name, and a list of words."""
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


def read(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]], list[str]]:
    """Map a file: the head, the arrays (read-only views), and the words."""
    data = np.memmap(path, dtype=np.uint8, mode="r")
    if bytes(data[: len(MAGIC)]) != MAGIC:
        raise Unreadable("This stored tree is of another version. Read the evidence again.")
    length = int.from_bytes(bytes(data[len(MAGIC) : len(MAGIC) + 8]), "little")
    body = json.loads(bytes(data[len(MAGIC) + 8 : len(MAGIC) + 8 + length]))
    start = -(-(len(MAGIC) + 8 + length) // ALIGN) * ALIGN
    arrays = {key: _view(data, start, *where) for key, where in body["arrays"].items()}
    ends, text = arrays.pop("word_ends"), bytes(arrays.pop("word_bytes"))
    starts = [0, *ends.tolist()]
    words = [text[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(starts)]
    return body["head"], arrays, words


def _view(data: NDArray[np.uint8], start: int, dtype: str, shape: list[int], at: int) -> NDArray[Any]:
    size = np.dtype(dtype).itemsize * int(np.prod(shape))
    return np.asarray(data[start + at : start + at + size]).view(dtype).reshape(shape)

"""Tell pieces of a text, or of other bytes, apart by Arrow, where they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow._compute import SetLookupOptions, call_function  # pyarrow.compute takes 50 ms to import, for other things

from evidence.profile.stacks import Codes, Ints


def encoded(text: NDArray[Any], offsets: Codes) -> Any:
    """Return the dictionary of the pieces between offsets, in the order in which they are met, and the code of each."""
    array = pa.Array.from_buffers(pa.binary(), len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(text)])
    return call_function("dictionary_encode", [array], memory_pool=pa.system_memory_pool())


def found_in(pieces: Any, known: Any) -> Ints:
    """Return the place of each piece among those that are known, -1 for one that is not."""
    found = call_function("index_in", [pieces], SetLookupOptions(known))
    valid, places = found.buffers()
    where = np.frombuffer(places, dtype=np.int32, count=len(found)).astype(np.int64)
    if valid is not None:
        bits: NDArray[np.uint8] = np.frombuffer(valid, dtype=np.uint8)
        where[np.unpackbits(bits, count=len(found), bitorder="little") == 0] = -1
    return where


def chosen(pieces: Any, places: Ints) -> list[bytes]:
    """Return the pieces at some places. Arrow's own ``take`` imports what takes longer than all of this."""
    at = pa.Array.from_buffers(pa.int64(), len(places), [None, pa.py_buffer(places)])
    taken: list[bytes] = call_function("array_take", [pieces, at]).to_pylist()
    return taken

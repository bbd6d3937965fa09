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
    found = call_function("index_in", [pieces], SetLookupOptions(known)).to_numpy(zero_copy_only=False)
    places: Ints = np.nan_to_num(found, nan=-1).astype(np.int64)
    return places

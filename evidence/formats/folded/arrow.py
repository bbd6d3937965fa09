"""Tell pieces of a text, or of other bytes, apart by Arrow, where they are."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from numpy.typing import NDArray
from pyarrow._compute import call_function  # pyarrow.compute takes 50 ms to import, for functions we do not call

from evidence.profile.stacks import Codes


def encoded(text: NDArray[Any], offsets: Codes) -> Any:
    """Return the dictionary of the pieces between offsets, in the order in which they are met, and the code of each."""
    array = pa.Array.from_buffers(pa.binary(), len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(text)])
    return call_function("dictionary_encode", [array], memory_pool=pa.system_memory_pool())

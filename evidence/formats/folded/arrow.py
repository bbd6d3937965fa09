"""Find the distinct pieces of a text, or of other bytes, with Arrow and without copying."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from numpy.typing import NDArray
from pyarrow._compute import call_function  # importing pyarrow.compute takes 50 ms, for functions we do not call

from evidence.profile.stacks import Codes


def encoded(text: NDArray[Any], offsets: Codes) -> Any:
    """Return the dictionary of the pieces between offsets, in order of first appearance, and the code of each piece."""
    array = pa.Array.from_buffers(pa.binary(), len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(text)])
    return call_function("dictionary_encode", [array], memory_pool=pa.system_memory_pool())

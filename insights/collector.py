"""Pause the garbage collector: it would scan all values of a single request, and find nothing among them."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def resting() -> Iterator[None]:
    """Pause the collector within the block, unless it is paused already; reference counting still frees memory."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()

"""Garbage collection in long-lived processes that have loaded much, and returning memory to the system."""

import ctypes
import gc
from typing import Any, Final

ARENAS: Final = -8  # M_ARENA_MAX in glibc's malloc.h
AFTER = 50_000  # net allocations before a collection; Python's default of 700 is for programs that hold little


def share_one_arena() -> None:
    """Have all threads allocate from one arena, so that memory one frees serves the others; call it before starting
    any.

    By default glibc gives threads arenas of their own, which avoids contention in programs without a GIL.
    """
    allot = _of_glibc("mallopt")
    if allot is not None:
        allot(ARENAS, 1)


def leave_out_what_is_loaded() -> None:
    """Exclude everything loaded so far from garbage collection, and collect less often.

    Scanning the same modules, models and templates again and again takes a seventh of a page's time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(AFTER, 20, 100)
    _give_back()


def _give_back() -> None:
    """Return to the system what starting allocated and freed again: up to 14 MiB if modules were compiled.

    glibc keeps it for later (https://man7.org/linux/man-pages/man3/malloc_trim.3.html); other C libraries have no such
    call.
    """
    trim = _of_glibc("malloc_trim")
    if trim is not None:
        trim(0)


def _of_glibc(name: str) -> Any:
    return getattr(ctypes.CDLL(None), name, None)

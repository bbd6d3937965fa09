"""How Python looks for garbage in processes that have loaded much and live long, and what they give back."""

import ctypes
import gc
from typing import Any, Final

ARENAS: Final = -8  # M_ARENA_MAX in glibc's malloc.h
AFTER = 50_000  # objects made and not given back; Python's own 700 is for programs that hold little


def share_one_arena() -> None:
    """Have all threads take memory from one place, so that what one gives back serves the others; call it before any.

    By default glibc gives threads arenas of their own, against waiting for each other in programs without a GIL.
    """
    allot = _of_glibc("mallopt")
    if allot is not None:
        allot(ARENAS, 1)


def leave_out_what_is_loaded() -> None:
    """Leave what has been loaded out of every search for garbage, and search less often.

    Going through the same modules, models and templates again and again takes a seventh of a page's time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(AFTER, 20, 100)
    _give_back()


def _give_back() -> None:
    """Give the system what starting took and nobody holds: up to 14 MiB where modules were compiled.

    glibc keeps it for later (https://man7.org/linux/man-pages/man3/malloc_trim.3.html); other C libraries have no such
    call.
    """
    trim = _of_glibc("malloc_trim")
    if trim is not None:
        trim(0)


def _of_glibc(name: str) -> Any:
    return getattr(ctypes.CDLL(None), name, None)

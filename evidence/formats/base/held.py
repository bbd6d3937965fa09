"""Memory-mapped files: read whole within a bound, and released piece by piece. Pure."""

from __future__ import annotations

import mmap
from collections.abc import Iterator

from evidence.profile.errors import TooMuch
from evidence.profile.limits import DEFAULT, MIB, Limits

Buffer = bytes | mmap.mmap
STEP = 32 * MIB


def at_once(data: Buffer, *, limits: Limits = DEFAULT) -> bytes:
    """Return all of a content that can only be read at once. Raises ``TooMuch``."""
    if len(data) > limits.whole:
        raise TooMuch(f"This format can't be read above {limits.whole // MIB} MiB uncompressed")
    read = data[:]
    leave(data, 0, len(data))
    return read


def leave(data: Buffer, begin: int, end: int) -> None:
    """Tell the system that pages of a mapped file are no longer needed, so that they do not count as our memory."""
    if isinstance(data, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        page = begin - begin % mmap.PAGESIZE
        data.madvise(mmap.MADV_DONTNEED, page, end - page)


def check_lines(data: Buffer, *, limits: Limits = DEFAULT) -> None:
    """Raise ``TooMuch`` for a text with a line longer than any stack may be."""
    at = 0
    while len(data) - at > limits.line:
        end = data.rfind(b"\n", at, at + limits.line)
        if end < 0:
            raise TooMuch(f"A line is longer than {limits.line // MIB} MiB", where=f"byte {at}")
        at = end + 1
    leave(data, 0, len(data))


def lines(data: Buffer, begin: int = 0) -> Iterator[bytes]:
    """Yield each line from an offset on, without its end; what was read is released."""
    at = left = begin
    while at < len(data):
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        yield data[at:end]
        at = end + 1
        if at - left > STEP:
            leave(data, left, min(at, len(data)))
            left = at

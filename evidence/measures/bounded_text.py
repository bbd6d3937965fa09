"""The common basis of all measures' readers: bytes into lines, with bounds on both. Pure."""

from __future__ import annotations

import codecs
from collections.abc import Iterator

from evidence.profile.errors import BadProfile, TooMuch

MOST_BYTES = 16 << 20
HEAD = 1 << 16
MOST_LINE = 100_000
MOST_LINES = 500_000
MOST_NUMBER = 1e30  # anything beyond was not measured, and sums would overflow
MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def text(data: bytes) -> str:
    """Return a file's text, in any of the usual encodings. Raises TooMuch."""
    if len(data) > MOST_BYTES:
        raise TooMuch(f"A table or report can be up to {MOST_BYTES >> 20} MiB; this one is {len(data) >> 20} MiB")
    encoding = next((name for mark, name in MARKS if data.startswith(mark)), "utf-8")
    return data.decode(encoding, errors="replace").replace("\r\n", "\n").replace("\r", "\n").replace("\0", "�")


def head(data: bytes) -> str:
    """Return the text at the start of a file; ``data`` may end within a character, and may not be text."""
    return text(data[:HEAD])


def lines(data: bytes) -> Iterator[tuple[int, str]]:
    """Yield numbered lines from 1. Raises TooMuch for a line longer than in any report."""
    said = text(data)
    if said.count("\n") > MOST_LINES:
        raise TooMuch(f"A table or report can have up to {MOST_LINES:,} lines", where=f"line {MOST_LINES + 1}")
    for at, line in enumerate(said.split("\n"), start=1):
        if len(line) > MOST_LINE:
            raise TooMuch("A line is too long", where=f"line {at}")
        yield at, line


def real(said: str, *, at: int) -> float:
    """Return a finite number. Raises BadProfile naming the line."""
    try:
        value = float(said)
    except ValueError:
        raise BadProfile(f"“{said[:40]}” isn't a number", where=f"line {at}") from None
    if not abs(value) < MOST_NUMBER:
        raise BadProfile(f"“{said[:40]}” isn't a number to count with", where=f"line {at}")
    return value

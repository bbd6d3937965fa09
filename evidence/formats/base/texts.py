"""The beginning of a text, by lines, from which readers recognise formats. Pure."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Sequence

from evidence.formats.base import held
from evidence.formats.base.held import Buffer
from evidence.profile.limits import Limits

HEAD = 1 << 16
LOOKED_AT = 400
# No tool prints longer lines, and expressions that look back take long on them.
LONGEST = 4096
BINARY = re.compile(rb"[\0-\x08\x0e-\x1a\x1c-\x1f]")
_CONTROLS = [bytes([byte]) for byte in range(9)]
# A text may have one such byte in this many.
STRAY = 16
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def plain(head: bytes) -> bytes:
    """Return a text as UTF-8 without its byte order mark."""
    if head[:2] in _UTF16:
        return head.decode("utf-16", "replace").encode()
    return head.removeprefix(codecs.BOM_UTF8)


def in_utf8(data: Buffer, *, limits: Limits) -> Buffer:
    """Return a whole text as UTF-8 without its byte order mark; without a copy if it already is."""
    marked = data[:2] in _UTF16 or data[:3] == codecs.BOM_UTF8
    return plain(held.at_once(data, limits=limits)) if marked else data


def hardly(head: bytes) -> bool:
    """Return whether content is not a text: more than one byte in sixteen is a control character, and it is not UTF-16.

    A text with a few stray bytes is still a text.
    """
    return head[:2] not in _UTF16 and sum(map(head.count, _CONTROLS)) > len(head) // STRAY


def lines(head: bytes) -> list[bytes]:
    """Return the meaningful lines without their ends: no blank lines or comments, and none that is cut off."""
    *whole, last = plain(head).split(b"\n")
    if len(head) < HEAD or not whole:
        whole.append(last)
    return [line.rstrip(b"\r") for line in whole if line.strip() and not is_comment(line)][:LOOKED_AT]


def is_comment(line: bytes) -> bool:
    """Return whether a line is a comment."""
    return line[:1] == b"#" and line[1:2] in (b"", b" ", b"!", b"#", b"\r")


def share(lines: Sequence[bytes], fits: Callable[[bytes], object]) -> float:
    """Return the share of these lines that fits."""
    return sum(bool(fits(line)) for line in lines) / len(lines) if lines else 0.0

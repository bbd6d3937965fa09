"""The beginning of a text, by lines: what readers tell formats by. Pure."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Sequence

from evidence.formats.base import held
from evidence.formats.base.held import Buffer
from evidence.profile.limits import Limits

HEAD = 1 << 16
LOOKED_AT = 400
# No tool prints longer lines; expressions that look back take long for them.
LONGEST = 4096
BINARY = re.compile(rb"[\0-\x08\x0e-\x1a\x1c-\x1f]")
_CONTROLS = [bytes([byte]) for byte in range(9)]
# A text may have one such byte in so many.
STRAY = 16
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def plain(head: bytes) -> bytes:
    """Return a text as UTF-8 without its mark."""
    if head[:2] in _UTF16:
        return head.decode("utf-16", "replace").encode()
    return head.removeprefix(codecs.BOM_UTF8)


def in_utf8(data: Buffer, *, limits: Limits) -> Buffer:
    """Return a whole text as UTF-8 without its mark; one that is so already stays where it is."""
    marked = data[:2] in _UTF16 or data[:3] == codecs.BOM_UTF8
    return plain(held.at_once(data, limits=limits)) if marked else data


def hardly(head: bytes) -> bool:
    """Say that content is no text: more than a byte of sixteen is a control character, and it is not in UTF-16.

    A text with some stray bytes in it is still a text.
    """
    return head[:2] not in _UTF16 and sum(map(head.count, _CONTROLS)) > len(head) // STRAY


def lines(head: bytes) -> list[bytes]:
    """Return the lines that say something, without their ends: neither blank ones nor comments, nor one that is cut."""
    *whole, last = plain(head).split(b"\n")
    if len(head) < HEAD or not whole:
        whole.append(last)
    return [line.rstrip(b"\r") for line in whole if line.strip() and not is_comment(line)][:LOOKED_AT]


def is_comment(line: bytes) -> bool:
    """Tell a line that is a remark on the others."""
    return line[:1] == b"#" and line[1:2] in (b"", b" ", b"!", b"#", b"\r")


def share(lines: Sequence[bytes], fits: Callable[[bytes], object]) -> float:
    """Return which share of some lines fits."""
    return sum(bool(fits(line)) for line in lines) / len(lines) if lines else 0.0

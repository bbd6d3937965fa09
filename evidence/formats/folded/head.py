"""Tell folded stacks from everything else that is text, by how the content begins. Pure.

Prose has semicolons and ends lines in numbers now and then; tables end each line in a number and have no frames;
code and other people's formats end lines in anything else. Folded stacks do both, line after line.
"""

from __future__ import annotations

import codecs
import re

from evidence.formats.folded import grammar

HEAD = 1 << 16
# Of the lines that say something, how many must be of folded stacks.
MOST = 0.5
# The least number of frames by which a line is known whose end we do not see.
CUT_FRAMES = 16
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BINARY = re.compile(rb"[\0-\x08\x0e-\x1a\x1c-\x1f]")
_TIGHT = re.compile(rb";[^ \t\r;]")
_WORDS = re.compile(rb"[^;()<>\[\]{}]*[a-z,] [a-z]")
_TRACING = re.compile(rb"(ThreadId\(\d+\)[^;]*|all-threads)(; |[ \t]+\d)")
_CODE = re.compile(rb"[\"=]|//")


def looks_like(head: bytes) -> bool:
    """Tell whether the first 64 KiB of some content are folded stacks, bad lines among them or not."""
    text = head.decode("utf-16", "replace").encode() if head[:2] in _UTF16 else head.removeprefix(codecs.BOM_UTF8)
    if _BINARY.search(text):
        return False
    *lines, last = text.split(b"\n")
    if len(head) < HEAD:
        lines.append(last)
    elif not lines:
        return _is_cut(last)
    lines = [line for line in lines if not grammar.says_nothing(line)]
    folded = [line for line in lines if grammar.tail(line, columns=1)]
    return any(map(_is_sure, folded)) and len(folded) >= MOST * len(lines)


def _is_sure(line: bytes) -> bool:
    """Tell whether a line that ends in a count has frames, not clauses."""
    if _TRACING.match(line):
        return True
    if not _TIGHT.search(line):
        return b"; " in line and not any(_WORDS.match(frame.strip()) for frame in line.split(b";"))
    return not _CODE.search(line) or line.count(b";") > 2


def _is_cut(line: bytes) -> bool:
    """Tell whether one line longer than the head is a very deep stack, not the code of a page."""
    frames = line.split(b";")[:-1]
    return len(frames) >= CUT_FRAMES and not any(_CODE.search(frame) for frame in frames)

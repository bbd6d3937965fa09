"""Recognise folded stacks among other texts by how the content begins. Pure.

Prose contains semicolons and sometimes ends lines in numbers; tables end each line in a number and have no frames; code
and other formats end lines in anything else. Folded stacks have both, line after line.
"""

from __future__ import annotations

import re

from evidence.formats.base import texts
from evidence.formats.folded import grammar
from evidence.profile.claims import Certainty, Claim

# The share of meaningful lines that must be folded stacks.
MOST = 0.5
NEARLY_ALL = 0.9
# The minimum number of frames to recognise a line whose end is not in the head.
CUT_FRAMES = 16
_TIGHT = re.compile(rb";[^ \t\r;]")
_WORDS = re.compile(rb"[^;()<>\[\]{}]*[a-z,] [a-z]")
_TRACING = re.compile(rb"(ThreadId\(\d+\)[^;]*|all-threads)(; |[ \t]+\d)")
_DATED = re.compile(rb"[\[(<\"]?(\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d)")
_CODE = re.compile(rb"[\"=]|//")
# One frame and its count; tables have more columns, reports have labels, prose has more words.
_ALONE = re.compile(rb"([^\s\d,;|%{}\"=][^,;|%{}\"=]*?)[ \t]+\d+(\.\d+)?[ \t]*")
_LABEL = re.compile(rb":([ \t]|$)|[ \t]\d[\d.]*$|[.!?]([ \t]|$)")
_OPENING = re.compile(rb"[(<\[]")
_CLOSINGS = (b")", b">", b"]")
MOST_BLANKS = 3


def claim(head: bytes) -> Claim | None:
    """Return how surely the first 64 KiB are folded stacks, with or without bad lines among them."""
    if texts.BINARY.search(texts.plain(head)):
        return None
    if len(head) >= texts.HEAD and b"\n" not in head:
        return Claim(Certainty.LIKELY, "its only line has frames and no end yet") if _is_cut(head) else None
    lines = texts.lines(head)
    folded = texts.share(lines, lambda line: grammar.tail(line, columns=1))
    if any(map(_is_tight, lines)) or texts.share(lines, _is_loose) >= MOST:
        why = f"{folded:.0%} of its lines are frames joined by ; and a count"
        if folded >= MOST:
            return Claim(Certainty.SURE if folded >= NEARLY_ALL else Certainty.LIKELY, why.replace("%", " %"))
    if lines and all(_is_alone(line, alone=len(lines) == 1) for line in lines):
        return Claim(Certainty.POSSIBLE, "all of its lines are a name and a count")
    return None


def _is_alone(line: bytes, *, alone: bool) -> bool:
    """Return whether a line is one frame and its count; a line that is ``alone`` could be a sentence."""
    if len(line) > texts.LONGEST:
        return False
    found = _ALONE.fullmatch(_without_brackets(line.rstrip()))
    if not found or _LABEL.search(found[1]):
        return False
    return found[1].count(b" ") <= (0 if alone else MOST_BLANKS)


def _without_brackets(line: bytes) -> bytes:
    """Remove what is between the first opening bracket and the last closing one."""
    opening, closing = _OPENING.search(line), max(map(line.rfind, _CLOSINGS))
    if not opening or closing < opening.start():
        return line
    return line[: opening.start()] + b"()" + line[closing + 1 :]


def _is_tight(line: bytes) -> bool:
    """Return whether a line with a count has frames joined by a bare ``;``, not clauses, and is not from a log."""
    if not _TIGHT.search(line) or _DATED.match(line) or not grammar.tail(line, columns=1):
        return False
    return not _CODE.search(line) or line.count(b";") > 2


def _is_loose(line: bytes) -> bool:
    """Return whether a line with a count has frames joined by ``; ``; prose and logs have such a line now and then."""
    if _TIGHT.search(line) or _DATED.match(line) or not grammar.tail(line, columns=1):
        return False
    return bool(_TRACING.match(line)) or (
        b"; " in line and not any(_WORDS.match(frame.strip()) for frame in line.split(b";"))
    )


def _is_cut(line: bytes) -> bool:
    """Return whether one line longer than the head is a very deep stack, and not a web page's code."""
    frames = line.split(b";")[:-1]
    return len(frames) >= CUT_FRAMES and not any(_CODE.search(frame) for frame in frames)

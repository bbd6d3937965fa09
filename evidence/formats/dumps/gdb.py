"""Backtraces of gdb (``thread apply all bt``), pstack and eu-stack: one or several in a row.

Source: the GDB manual, *Backtraces*: ``#1  0x… in function (args) at file:line`` or ``from library``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from evidence.formats import Buffer
from evidence.formats.base import held, symbols, texts
from evidence.formats.dumps import dumped
from evidence.formats.dumps.dumped import DumpedThread
from evidence.profile.claims import Certainty, Claim
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.stacks import Stacks

NAME = "gdb"
THREAD = re.compile(
    rb"Thread \d+ \((?:Thread 0x[0-9a-f]+ \(LWP \d+\)|LWP \d+|process \d+)[^)\n]*\)?"
    rb'(?: "(?P<name>[^"\n]{0,100})")?.*:\s*$'
)
TID = re.compile(rb"TID \d+:\s*$")
FRAME = re.compile(
    rb"#(?P<depth>\d{1,5})\s+(?:0x(?P<address>[0-9a-f]{1,16})\s+(?:in )?)?(?P<symbol>\S.{0,2000}?)"
    rb"(?: (?:at|from) (?P<where>[^\s()][^()\n]*))?(?: - \d+)?\s*$"
)
MOST = 0.6


def claim(head: bytes) -> Claim | None:
    """Recognise threads with numbered frames, or frames that begin at 0 and make up most of the text."""
    lines = texts.lines(head)
    framed = texts.share(lines, lambda line: FRAME.match(line) or THREAD.match(line) or TID.match(line))
    begins = any((THREAD.match(one) or TID.match(one)) and (two.startswith(b"#0 ")) for one, two in pairwise(lines))
    if begins:
        return Claim(Certainty.SURE, "it has threads with numbered frames, as gdb prints them")
    if framed >= MOST and any(line.startswith(b"#0 ") for line in lines) and any(b" in " in line for line in lines):
        return Claim(Certainty.LIKELY, "most of its lines are numbered frames")
    return None


def read(data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
    """Read every thread. Raises ``BadProfile`` if none has a frame; ``TooMuch``."""
    text = texts.plain(held.at_once(data, limits=limits))
    return dumped.stacks(_threads(text), format=NAME, unit="threads", limits=limits)


def _threads(text: bytes) -> Iterator[DumpedThread]:
    frames: list[str] = []
    name, begun = "", 0
    for number, whole in enumerate(text.split(b"\n"), 1):
        line = whole[: texts.LONGEST]
        thread = THREAD.match(line) or TID.match(line)
        frame = None if thread else FRAME.match(line)
        if thread or (frame and int(frame["depth"]) == 0 and frames):
            yield DumpedThread(frames, name, "", begun)
            frames, begun = [], number
            name = (thread.groupdict().get("name") or b"").decode(errors="replace") if thread else name
        if frame:
            frames.append(_named(frame))
    yield DumpedThread(frames, name, "", begun)


def _named(frame: re.Match[bytes]) -> str:
    symbol = frame["symbol"].decode(errors="replace").strip()
    if symbol in {"??", "?? ()"}:
        file = (frame["where"] or b"").decode(errors="replace").rsplit("/", 1)[-1]
        return f"[{file}]" if file else f"0x{(frame['address'] or b'0').decode()}"
    return symbols.tidy(symbols.before_call(symbol) or symbol) or "[unknown]"

"""Thread dumps of a JVM: jstack, ``jcmd Thread.print``, SIGQUIT; one or several in a row.

Source: the JDK, ``java_lang_Thread.cpp`` and ``vframe.cpp``: a line in quotes, a state, frames after ``at``.
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

NAME = "jstack"
DUMP = re.compile(rb"Full thread dump ")
THREAD = re.compile(rb'"((?:[^"\\\n]|\\.){0,300})".{0,400}?(?:\bprio=|\btid=|\bnid=|#\d+)')
STATE = re.compile(rb"\s+java\.lang\.Thread\.State: ([A-Z_]+)")
FRAME = re.compile(
    rb"\s+at (?:(?:[\w.-]+/)?[\w.]+@[\w.+-]+/|(?:app|platform|boot)//|(?:java|jdk)\.[\w.]+/)?(\S[^\n]*\))\s*$"
)


def claim(head: bytes) -> Claim | None:
    """Recognise the heading of a dump, or threads with their states."""
    lines = texts.lines(head)
    if any(DUMP.match(line) for line in lines[:20]):
        return Claim(Certainty.SURE, "it begins with “Full thread dump”")
    if any(THREAD.match(one) and STATE.match(two) for one, two in pairwise(lines)):
        return Claim(Certainty.SURE, "it has threads of Java with their states")
    return None


def read(data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
    """Read every thread that has frames. Raises ``BadProfile`` if none has; ``TooMuch``."""
    text = texts.plain(held.at_once(data, limits=limits))
    dumps = len(DUMP.findall(text))
    return dumped.stacks(_threads(text), format=NAME, unit="threads", limits=limits, dumps=dumps)


def _threads(text: bytes) -> Iterator[DumpedThread]:
    open_: DumpedThread | None = None
    for number, whole in enumerate(text.split(b"\n"), 1):
        line = whole[: texts.LONGEST]
        if begun := THREAD.match(line):
            if open_:
                yield open_
            open_ = DumpedThread([], begun[1].decode(errors="replace")[:100], "", number)
        elif open_ and (state := STATE.match(line)):
            open_ = open_._replace(state=state[1].decode())
        elif open_ and (frame := FRAME.match(line)):
            open_.frames.append(symbols.before_call(frame[1].decode(errors="replace")) or "[unknown]")
    if open_:
        yield open_

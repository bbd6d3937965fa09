"""Goroutine stacks as Go prints them: ``goroutine?debug=2``, a panic, SIGQUIT.

Source: Go's ``runtime/traceback.go``: ``goroutine 7 [chan receive, 5 minutes]:``, then pairs of lines, a function with
its arguments and its place in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from evidence.formats import Buffer
from evidence.formats.base import held, symbols, texts
from evidence.formats.dumps import dumped
from evidence.formats.dumps.dumped import DumpedThread
from evidence.profile.claims import Certainty, Claim
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.stacks import Stacks

NAME = "goroutines"
OPENS = re.compile(rb"goroutine \d+ (?:gp=\S+ m=\S+ (?:mp=\S+ )?)?\[([^\],\n]{1,100})[^\]\n]*\]:\s*$")
PLACE = re.compile(rb"\t\S[^\n]{0,4000}:\d+(?: \+0x[0-9a-f]+)?(?: fp=.*)?\s*$")
CREATED = b"created by "


def claim(head: bytes) -> Claim | None:
    """Recognise the first line of a goroutine, and a function below it."""
    lines = [line.rstrip(b"\r") for line in texts.plain(head).split(b"\n")]
    for at, line in enumerate(lines[:-1]):
        if OPENS.match(line) and _function(lines[at + 1]):
            return Claim(Certainty.SURE, "it has goroutines with their states and stacks")
    return None


def read(data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
    """Read every goroutine that has a stack. Raises ``BadProfile`` if none has; ``TooMuch``."""
    text = texts.plain(held.at_once(data, limits=limits))
    return dumped.stacks(_goroutines(text), format=NAME, unit="goroutines", limits=limits)


def _goroutines(text: bytes) -> Iterator[DumpedThread]:
    open_: DumpedThread | None = None
    created = False
    for number, raw in enumerate(text.split(b"\n"), 1):
        line = raw.rstrip(b"\r")
        if begun := OPENS.match(line):
            if open_:
                yield open_
            open_, created = DumpedThread([], "", begun[1].decode(errors="replace"), number), False
        elif not line.strip() and open_:
            yield open_
            open_ = None
        elif open_ and not created and not PLACE.match(line):
            created = line.startswith(CREATED)
            if not created and (function := _function(line)):
                open_.frames.append(function)
    if open_:
        yield open_


def _function(line: bytes) -> str:
    """Return the function that a line calls; empty for any other line."""
    if len(line) > texts.LONGEST or line[:1] in (b"\t", b" ", b""):
        return ""
    return symbols.before_call(line.decode(errors="replace")) or ""

"""Austin's text when it records everything (``austin -f``): each stack ends in a time, an idle flag, and bytes.

Source: github.com/P403n1x87/austin, *Collapsed stack format*. Text with one count per stack is folded.
"""

from __future__ import annotations

import re

from evidence.formats import Buffer
from evidence.formats.base import held, texts
from evidence.formats.base.skipped import Skipped
from evidence.formats.python import austin_samples
from evidence.formats.python.austin_samples import AustinMetrics, AustinSamples, AustinStack, Frame
from evidence.profile.claims import Certainty, Claim
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.source_functions import SourceFunction
from evidence.profile.stacks import Stacks

NAME = "austin"
LINE = re.compile(rb"P(\d{1,12});T([^;]{1,200}?)((?:;[^;]*)*) (\d{1,15}),([01]),(-?\d{1,15})\s*$")
REMARK = re.compile(rb"# ([\w -]{1,40}): (.{0,400})$")
MOST = 0.5
SPECIAL = {"GC": austin_samples.collecting(), "INVALID": austin_samples.invalid()}


def claim(head: bytes) -> Claim | None:
    """Recognise stacks of processes and threads that end in three numbers, which no table of numbers has."""
    lines = texts.lines(head)
    fits = texts.share(lines, lambda line: LINE.match(line[: texts.LONGEST]))
    if not fits:
        return None
    why = "its stacks begin with a process and a thread and end in Austin's three numbers"
    return Claim(Certainty.SURE if fits >= MOST else Certainty.LIKELY, why)


def read(data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
    """Read the time and memory of each stack. Raises ``BadProfile`` naming the line; ``TooMuch``."""
    samples, skipped = AustinSamples(), Skipped()
    said: dict[str, str] = {}
    for number, line in enumerate(held.lines(texts.in_utf8(data, limits=limits)), 1):
        if found := LINE.match(line):
            process, thread, frames = (part.decode(errors="replace") for part in found.groups()[:3])
            stack = AustinStack(process, thread, tuple(map(_frame, frames.split(";")[1:])))
            samples.add(stack, AustinMetrics(int(found[4]), int(found[6]), idle=found[5] == b"1"))
        elif remark := REMARK.match(line):
            said.setdefault(remark[1].decode(), remark[2].decode(errors="replace").strip())
        elif line.strip() and not texts.is_comment(line):
            skipped.add(number, line)
    gather, about = samples.gathered(said, limits=limits)
    return gather.stacks(NAME, about={**about, **skipped.about()})


def _frame(said: str) -> Frame:
    """Read ``file:function:line``; a frame without a file is not a function."""
    file, _, rest = said.rpartition(":")[0].rpartition(":")
    line = said.rpartition(":")[2]
    if not file and rest in SPECIAL:
        return SPECIAL[rest]
    if file == "kernel":
        return austin_samples.kernel(rest)
    return SourceFunction(rest or said, file, int(line) if line.isdecimal() and len(line) < 9 else 0)

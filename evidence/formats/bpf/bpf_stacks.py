"""Stacks as bpftrace and bcc print them, innermost frame first, with a count below.

bpftrace ends a map's key with ``, comm]: 12``; bcc's profile, offcputime and stackcount put ``-  comm (pid)`` and the
count on lines of their own, followed by a blank line. Kernel frames precede user frames in both. Sources: the bpftrace
reference guide, ``stackcollapse-bpftrace.pl``; github.com/iovisor/bcc, ``tools``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from evidence.formats import Buffer
from evidence.formats.base import held, symbols, texts, units
from evidence.formats.base.gather import Gather
from evidence.formats.base.skipped import Skipped
from evidence.profile.claims import Certainty, Claim
from evidence.profile.errors import BadProfile
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.stacks import SampleType, Stacks

NAME = "bpf stacks"
OPENS = re.compile(rb"@(\w*)\[(?P<key>[^\n\[\]]{0,200}, ?)?$")
CLOSES = re.compile(rb"\s*(?:,? ?(?P<key>[^\n]{0,300}?))?\]: (?P<count>\d{1,18})$")
OFFSET = re.compile(rb"\+(?:0x[0-9a-f]+|\d+)$")
PROCESS = re.compile(rb"\s+-\s+(\S.{0,60}?)(?: \(\d+\))?\s*$")
ALONE = re.compile(rb"\s{1,24}(\d{1,18})\s*$")
FRAME = re.compile(rb"\s{2,16}(\S.*)$")
DELIMITER = re.compile(rb"\s+--\s*$")
SAMPLES = SampleType("samples", "samples")
# The line before the first stack in which bcc's tools for blocked threads say what they count.
TIMED = re.compile(rb"Tracing (off-CPU|blocked) time \((ns|us|ms)\)")
TIMES = {b"off-CPU": SampleType("off_cpu", "nanoseconds"), b"blocked": SampleType("blocked", "nanoseconds")}
MOST = 0.6


class BpfStack(NamedTuple):
    """One stack, innermost first, and its position."""

    frames: list[bytes]
    times: int
    line: int


def claim(head: bytes) -> Claim | None:
    """Recognise a map's key that spans lines, or blocks of frames that end with a process and a count."""
    lines = [line.rstrip(b"\r") for line in texts.plain(head).split(b"\n")]
    if any(OPENS.match(line) for line in lines) and any(CLOSES.match(line) for line in lines):
        return Claim(Certainty.SURE, "it has a map of bpftrace whose keys are stacks")
    ends = sum(
        bool(PROCESS.match(one) and ALONE.match(two) and not after.strip())
        for one, two, after in zip(lines, lines[1:], [*lines[2:], b""], strict=False)
    )
    told = texts.lines(head)
    fits = texts.share(told, lambda line: FRAME.match(line) or ALONE.match(line))
    if ends and fits >= MOST:
        return Claim(Certainty.SURE, "its stacks end in a process and a count, as bcc prints them")
    return None


def read(data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
    """Read each stack. Raises ``BadProfile`` if there is none; ``TooMuch``."""
    lines = texts.plain(held.at_once(data, limits=limits)).split(b"\n")
    kind, times = _counted(lines)
    gather = Gather([kind], limits=limits)
    skipped = Skipped()
    maps = any(OPENS.match(line.rstrip(b"\r")) for line in lines[:2000])
    for one in (_of_maps if maps else _of_blocks)(lines, skipped):
        codes = [gather.code(_named(frame)) for frame in reversed(one.frames)]
        gather.add(codes, [one.times * times], where=f"line {one.line}")
    stacks = gather.stacks(NAME, about={**({} if kind == SAMPLES else {"dialect": "bcc"}), **skipped.about()})
    if not len(stacks):
        raise BadProfile("It has no stack that ends in a count", where=skipped.where)
    return stacks


def _counted(lines: Sequence[bytes]) -> tuple[SampleType, int]:
    """Return what is counted, and how many of our unit one of theirs is; samples unless the head says a time."""
    found = next((said for line in lines[:20] if (said := TIMED.match(line))), None)
    return (TIMES[found[1]], units.ours(found[2].decode())[0]) if found else (SAMPLES, 1)


def _named(frame: bytes) -> str:
    return symbols.tidy(OFFSET.sub(b"", frame).decode(errors="replace"))


def _of_maps(lines: Sequence[bytes], skipped: Skipped) -> Iterator[BpfStack]:
    """Yield the entries of maps whose keys are stacks; the rest of the key is the root."""
    stack: list[bytes] | None = None
    before: list[bytes] = []
    for number, raw in enumerate(lines, 1):
        line = raw.rstrip(b"\r")
        if stack is None:
            if opens := OPENS.match(line):
                stack, before = [], [opens["key"].rstrip(b", ")] if opens["key"] else []
            elif line.strip() and not line.startswith((b"#", b"Attaching", b"^C", b"@")):
                skipped.add(number, line)
        elif closes := CLOSES.match(line):
            key = (closes["key"] or b"").strip(b", ")
            yield BpfStack(stack + ([key] if key else []) + before, int(closes["count"]), number)
            stack = None
        elif line.strip(b", \t"):
            stack.append(line.strip(b", \t"))


def _of_blocks(lines: Sequence[bytes], skipped: Skipped) -> Iterator[BpfStack]:
    """Yield the blocks between blank lines that end with a count."""
    block: list[bytes] = []
    for number, raw in enumerate([*lines, b""], 1):
        line = raw.rstrip()
        if line:
            block.append(line)
            continue
        count = ALONE.match(block[-1]) if block else None
        if count and len(block) > 1:
            yield _of_block(block[:-1], int(count[1]), number - 1)
        else:
            for at, one in enumerate(block):
                if not one.startswith((b"#", b"Sampling", b"Tracing")):
                    skipped.add(number - len(block) + at, one)
        block = []


def _of_block(block: list[bytes], count: int, line: int) -> BpfStack:
    process = PROCESS.match(block[-1])
    frames = [one.strip() for one in (block[:-1] if process else block) if not DELIMITER.match(one)]
    return BpfStack(frames + ([process[1]] if process else []), count, line)

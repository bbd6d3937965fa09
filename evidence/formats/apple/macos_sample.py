"""Output of macOS' ``sample`` (and Activity Monitor's *Sample Process*): an indented call tree with counts.

Source: sample(1): below *Call graph:* each line is how many samples passed through a function, below its caller; ``+ !
: |`` are guides for the eye.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from evidence.formats import Buffer
from evidence.formats.base import held, symbols, texts
from evidence.formats.base.gather import Gather
from evidence.formats.base.skipped import Skipped
from evidence.profile.claims import Certainty, Claim
from evidence.profile.errors import BadProfile
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.stacks import SampleType, Stacks

NAME = "macos sample"
BEGINS, ENDS = b"Call graph:", (b"Total number in stack", b"Sort by top of stack", b"Binary Images:")
NODE = re.compile(rb"(?P<guides>[ +!:|]{2,2000}?)(?P<count>\d{1,12}) (?P<name>\S[^\n]{0,2000})$")
WHERE = re.compile(rb"\s+\(in (?P<module>[^)]{1,200})\).*$|\s+\[0x[0-9a-f,x ]+\].*$|\s+\+ [\d,x0-9a-f]+.*$")
THREAD = re.compile(rb"Thread_\w+")
UNKNOWN = b"???"
SAMPLES = (SampleType("samples", "samples"),)


def claim(head: bytes) -> Claim | None:
    """Recognise the heading of the tree and a node below it."""
    lines = texts.lines(head)
    begin = next((at for at, line in enumerate(lines) if line.strip() == BEGINS), -1)
    if begin >= 0 and any(NODE.match(line) for line in lines[begin + 1 : begin + 3]):
        return Claim(Certainty.SURE, "it has the call graph that macOS' sample prints")
    return None


def read(data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
    """Read what each function counts itself; threads are the roots. Raises ``BadProfile`` naming the line."""
    lines = [line.rstrip() for line in texts.plain(held.at_once(data, limits=limits)).split(b"\n")]
    gather = Gather(SAMPLES, limits=limits)
    skipped = Skipped()
    nodes = list(_nodes(lines, skipped))
    own = [count for _, _, count, _ in nodes]
    for _, above, count, _ in nodes:
        if above >= 0:
            own[above] -= count
    stacks: list[list[int]] = []
    for (number, above, _, name), value in zip(nodes, own, strict=True):
        stacks.append([*(stacks[above] if above >= 0 else []), gather.code(name)])
        if value < 0:
            raise BadProfile("A function counts less than those below it", where=f"line {number}")
        if value:
            gather.add(stacks[-1], [value], where=f"line {number}")
    if not nodes:
        raise BadProfile("Its call graph is empty")
    return gather.stacks(NAME, about=skipped.about())


def _nodes(lines: Sequence[bytes], skipped: Skipped) -> Iterator[tuple[int, int, int, str]]:
    """Yield the line, the index of the caller (-1: none), the count and the name of each node."""
    open_: list[tuple[int, int]] = []  # how far each open node is indented, and its index
    place = 0
    begun = False
    for number, line in enumerate(lines, 1):
        if not begun:
            begun = line.strip() == BEGINS
        elif line.startswith(ENDS):
            return
        elif found := NODE.match(line):
            indent = len(found["guides"])
            while open_ and open_[-1][0] >= indent:
                open_.pop()
            yield number, open_[-1][1] if open_ else -1, int(found["count"]), _named(found["name"])
            open_.append((indent, place))
            place += 1
        elif line.strip(b" +!:|"):
            skipped.add(number, line)


def _named(said: bytes) -> str:
    if THREAD.match(said):
        return " ".join(said.decode(errors="replace").split())
    where = WHERE.search(said)
    name = said[: where.start()] if where else said
    if name.strip() == UNKNOWN and where and where["module"]:
        return f"[{where['module'].decode(errors='replace')}]"
    return symbols.tidy(name.decode(errors="replace").strip()) or "[unknown]"

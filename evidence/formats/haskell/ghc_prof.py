"""GHC's time and allocation report (``+RTS -p``): an indented tree of cost centres, with shares of the total.

Source: GHC, ``rts/ProfilerReport.c``. Shares have one decimal, so times and bytes are computed from them and the
totals; with ``-P`` the report has ticks and bytes as well, which are exact.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from evidence.formats import Buffer
from evidence.formats.base import held, texts
from evidence.formats.base.skipped import Skipped
from evidence.formats.haskell import cost_centres
from evidence.formats.haskell.cost_centres import MICROSECOND, CostCentre
from evidence.profile.claims import Certainty, Claim
from evidence.profile.errors import BadProfile
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.source_functions import SourceFunction
from evidence.profile.stacks import Stacks

NAME = "ghc prof"
TITLE = re.compile(rb"\s.*\bTime and Allocation Profiling Report\b")
TICKS = re.compile(r"\s*total time\s*=.*?\((\d{1,12}) ticks @ (\d{1,9}) (us|ms)\b")
ALLOC = re.compile(r"\s*total alloc\s*=\s*([\d,]{1,25}) bytes")
HEAD = re.compile(r"COST CENTRE\s+MODULE\s.*\bno\.\s+entries\b")
SHARE = r"(\d{1,3}\.\d)"
NUMBERS = re.compile(
    rf"\s(\d{{1,12}})\s+(\d{{1,20}})\s+{SHARE}\s+{SHARE}\s+{SHARE}\s+{SHARE}(?:\s+(\d{{1,12}})\s+(\d{{1,18}}))?\s*$"
)
ROUNDED = "Times and bytes are worked out from shares with one decimal. Run with `+RTS -P` (or `-pj`) for exact ones."


def claim(head: bytes) -> Claim | None:
    """Recognise the title."""
    lines = texts.lines(head)
    if lines and TITLE.match(lines[0]):
        return Claim(Certainty.SURE, "its title is that of GHC's time and allocation report")
    return None


def read(data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
    """Read the time and the bytes of each cost centre. Raises ``BadProfile`` naming the line; ``TooMuch``."""
    lines = texts.plain(held.at_once(data, limits=limits)).decode(errors="replace").split("\n")
    begin = next((at for at, line in enumerate(lines) if HEAD.match(line)), -1)
    if begin < 0:
        raise BadProfile("It has no tree of cost centres")
    ticks, tick_ns, alloc = _totals(lines[:begin])
    skipped = Skipped()
    nodes: list[CostCentre] = []
    open_: list[tuple[int, int]] = []  # how far each open node is indented, and its index
    exact = False
    for number, line in enumerate(lines[begin + 1 :], begin + 2):
        found = NUMBERS.search(line[: texts.LONGEST])
        if found is None:
            if line.strip():
                skipped.add(number, line.encode())
            continue
        indent = len(line) - len(line.lstrip(" "))
        while open_ and open_[-1][0] >= indent:
            open_.pop()
        exact = exact or found[7] is not None
        time_ns = (int(found[7]) if found[7] else _part(found[3], ticks)) * tick_ns
        size = int(found[8]) if found[8] else _part(found[4], alloc)
        place = _place(line[: found.start()], lines[begin])
        nodes.append(CostCentre(place, open_[-1][1] if open_ else -1, time_ns, size))
        open_.append((indent, len(nodes) - 1))
    gather = cost_centres.gathered(nodes, limits=limits)
    return gather.stacks(NAME, about={**({} if exact else {"caution": ROUNDED}), **skipped.about()})


def _totals(lines: Sequence[str]) -> tuple[int, int, int]:
    """Return the total ticks, the length of one in nanoseconds, and the total bytes."""
    times = next((found for line in lines if (found := TICKS.match(line))), None)
    sizes = next((found for line in lines if (found := ALLOC.match(line))), None)
    if times is None or sizes is None:
        raise BadProfile("It doesn't say how many ticks and bytes there are in all")
    tick_us = int(times[2]) * (1000 if times[3] == "ms" else 1)
    return int(times[1]), tick_us * MICROSECOND, int(sizes[1].replace(",", "") or 0)


def _part(share: str, whole: int) -> int:
    """Return the amount for a share of a whole, in per cent with one decimal."""
    return (int(share.replace(".", "")) * whole + 500) // 1000


def _place(said: str, head: str) -> SourceFunction:
    """Read label, module and source, which are below their headings; reports before GHC 8 have no source."""
    module, source = head.index("MODULE"), head.find(" SRC ") + 1
    label = said[: module - 1].strip()
    if source:
        return cost_centres.place(label, said[module : source - 1].strip(), said[source:].strip())
    return cost_centres.place(label, said[module:].strip(), "")

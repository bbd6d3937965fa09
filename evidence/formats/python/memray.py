"""memray's table of allocations (``memray transform csv``): one line per stack. Source: github.com/bloomberg/memray."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator

from evidence.formats import Buffer
from evidence.formats.base import held, texts
from evidence.formats.base.gather import Gather
from evidence.profile.claims import Certainty, Claim
from evidence.profile.errors import BadProfile
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.source_functions import SourceFunction
from evidence.profile.stacks import SampleType, Stacks

NAME = "memray"
COLUMNS = ("num_allocations", "size", "stack_trace")
ALLOCATED = (SampleType("alloc_objects", "objects"), SampleType("alloc_space", "bytes"))


def claim(head: bytes) -> Claim | None:
    """Recognise the column names."""
    lines = texts.lines(head)
    first = lines[0].replace(b'"', b"").split(b",") if lines else []
    if {name.encode() for name in COLUMNS} <= set(first):
        return Claim(Certainty.SURE, "its columns are those of memray's table of allocations")
    return None


def read(data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
    """Read allocations and bytes of each stack. Raises ``BadProfile`` naming the line; ``TooMuch``."""
    rows = list(_rows(held.at_once(data, limits=limits)))
    stacks = [[_place(part, number) for part in trace.split("|") if part] for number, _, _, trace in rows]
    gather = Gather(ALLOCATED, limits=limits)
    names = gather.names_of(place for stack in stacks for place in stack)
    for (number, count, size, _), stack in zip(rows, stacks, strict=True):
        gather.add([gather.code(names[place]) for place in reversed(stack)], [count, size], where=f"line {number}")
    if not rows:
        raise BadProfile("It has a heading and no rows")
    return gather.stacks(NAME, default_type=1)


def _rows(data: bytes) -> Iterator[tuple[int, int, int, str]]:
    """Yield the line, allocations, bytes and trace of each row."""
    csv.field_size_limit(min(sys.maxsize, 1 << 26))
    reader = csv.reader(
        texts.plain(data).decode(errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}").splitlines()
    )
    header: list[str] = []
    try:
        for cells in reader:
            number = reader.line_num
            if not cells or cells[0].startswith("#"):
                continue
            if not header:
                header = cells
                continue
            row = dict(zip(header, cells, strict=False))
            count, size = (_whole(row.get(name, ""), number) for name in COLUMNS[:2])
            yield number, count, size, row.get("stack_trace", "")
    except csv.Error as error:
        raise BadProfile(f"The table is malformed: {error}", where=f"line {reader.line_num}") from error


def _whole(said: str, number: int) -> int:
    if not said.isdecimal() or len(said) > 18:
        raise BadProfile(f"{said!r:.40} isn't a count", where=f"line {number}")
    return int(said)


def _place(part: str, number: int) -> SourceFunction:
    function, _, rest = part.partition(";")
    file, _, line = rest.rpartition(";")
    return SourceFunction(function, file, int(line) if line.isdecimal() and len(line) < 9 else 0)

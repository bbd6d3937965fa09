"""The requested events of a JFR chunk, as columns of the requested fields.

An event begins with its size and its class. If all fields up to the last requested one are numbers, they are read for
all events of a class at once; otherwise event by event.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from evidence.formats.jfr import varints
from evidence.formats.jfr.chunk import CHECKPOINT, HEADER, METADATA, Chunk
from evidence.profile.errors import BadProfile
from evidence.profile.stacks import Ints

# How many distinct event sizes are remembered.
SIZES = 1 << 16


def places(chunk: Chunk, wanted: Collection[int]) -> dict[int, Ints]:
    """Return where the contents of events begin, after their class, for each of the ``wanted`` classes that occurs."""
    kinds, contents = _packed(chunk) if chunk.packed else _plain(chunk)
    found = {kind: contents[kinds == kind] for kind in wanted if kind not in (METADATA, CHECKPOINT)}
    return {kind: at for kind, at in found.items() if len(at)}


def _packed(chunk: Chunk) -> tuple[Ints, Ints]:
    begins = np.array(_walked(chunk), dtype=np.int64)
    data = np.frombuffer(chunk.bytes, dtype=np.uint8)
    kinds, contents = varints.at(data, varints.at(data, begins)[1])
    _check(chunk, contents)
    return kinds, contents


def _walked(chunk: Chunk) -> list[int]:
    """Return where all events begin; each gives its own size."""
    at, end = HEADER.size, len(chunk.bytes)
    data = chunk.bytes
    begins: list[int] = []
    add = begins.append
    known: dict[bytes, int] = {}
    while at < end:
        size = data[at]
        if size > 127:
            # Five bytes hold all bits of a size. The JDK pads it to four and async-profiler to five, so few are
            # distinct.
            said = data[at : at + 5]
            if said in known:
                size = known[said]
            else:
                size = chunk.cursor(at).int32()
                if len(known) < SIZES:
                    known[said] = size
        add(at)
        at += size
        if size <= 0 or at > end:
            raise _sized(chunk, begins[-1])
    return begins


def _plain(chunk: Chunk) -> tuple[Ints, Ints]:
    at, kinds, contents = HEADER.size, [], []
    while at < len(chunk.bytes):
        cursor = chunk.cursor(at)
        size = cursor.int32()
        kinds.append(cursor.int64())
        contents.append(cursor.at)
        if size <= 0 or at + size > len(chunk.bytes):
            raise _sized(chunk, at)
        at += size
    return np.array(kinds, dtype=np.int64), np.array(contents, dtype=np.int64)


def _sized(chunk: Chunk, at: int) -> BadProfile:
    cursor = chunk.cursor(at)
    return BadProfile(f"An event claims a size of {cursor.int32()} bytes", where=cursor.where)


def _check(chunk: Chunk, after: Ints) -> None:
    """Raise ``BadProfile`` if something was read past the end."""
    if int(after.max(initial=0)) > len(chunk.bytes):
        raise chunk.cursor(len(chunk.bytes) - 1).ended()


def columns(chunk: Chunk, kind: int, at: Ints, names: Sequence[str]) -> dict[str, Ints]:
    """Return those fields that are whole numbers, by name, for all events of a class that begin at these offsets."""
    found = chunk.classes.found[kind]
    widths = [chunk.classes.width(one) for one in found.fields]
    wanted = {place: name for name in names if (place := found.place(name)) >= 0 and widths[place] in (0, 1)}
    up_to = max(wanted, default=-1) + 1
    if chunk.packed and None not in widths[:up_to]:
        return _together(chunk, kind, at, wanted, widths[:up_to])
    read = chunk.classes.reader(kind)
    events = [read(chunk.cursor(place)) for place in at.tolist()]
    return {name: np.array([_signed(event[place]) for event in events]) for place, name in wanted.items()}


def _together(
    chunk: Chunk, kind: int, at: Ints, wanted: Mapping[int, str], widths: Sequence[int | None]
) -> dict[str, Ints]:
    data = np.frombuffer(chunk.bytes, dtype=np.uint8)
    fields = chunk.classes.found[kind].fields
    read: dict[str, Ints] = {}
    for place, width in enumerate(widths):
        if width == 0:
            value, at = varints.at(data, at)
            if not fields[place].constant and chunk.classes.name(fields[place].of) == "int":
                value = value.astype(np.int32).astype(np.int64)
        else:
            value, at = data[np.minimum(at, len(data) - 1)].astype(np.int64), at + (width or 0)
        if place in wanted:
            read[wanted[place]] = value
    _check(chunk, at)
    return read


def _signed(value: int) -> int:
    """Return a 64-bit number with its sign."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)

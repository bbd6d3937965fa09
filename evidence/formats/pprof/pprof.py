"""pprof's ``profile.proto``: Go, Rust, Node, Parca, Pyroscope. It arrives here already decompressed.

Source: github.com/google/pprof, ``proto/profile.proto``, including the field numbers.
"""

from __future__ import annotations

import mmap
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from evidence.formats.base import held
from evidence.formats.base.protobuf import wire
from evidence.formats.pprof.header import COMMENT, SAMPLE_TYPE, Header
from evidence.formats.pprof.samples import read_samples
from evidence.formats.pprof.tables import Strings, read_tables
from evidence.profile.claims import Certainty, Claim
from evidence.profile.errors import BadProfile
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.stacks import SampleType, Stacks

Buffer = bytes | mmap.mmap

NAME = "pprof"
IN_MEMORY = 64 << 20
SAMPLE, STRINGS = 2, 6
MESSAGES = {1, 2, 3, 4, 5, 6, 11}
NUMBERS = {7, 8, 9, 10, 12, 14, 15}


def claim(head: bytes) -> Claim | None:
    """Recognise the fields of the outermost message: all are pprof's, and a sample type is two numbers."""
    types = told = 0
    try:
        for number, kind, begin, end in wire.walk(head, 0, len(head)):
            if not _known(number, kind) or (number == SAMPLE_TYPE and not _is_value_type(head[begin:end])):
                return None
            types += number == SAMPLE_TYPE
            told += number == STRINGS or (number == SAMPLE_TYPE and end > begin)
    except BadProfile:
        pass  # the head ends within a field
    return Claim(Certainty.SURE, "its fields are those of profile.proto") if types and told else None


def _known(number: int, kind: int) -> bool:
    if number == COMMENT:
        return kind in (wire.VARINT, wire.LENGTH)
    return kind == wire.LENGTH if number in MESSAGES else number in NUMBERS and kind == wire.VARINT


def _is_value_type(message: bytes) -> bool:
    try:
        return {(number, kind) for number, kind, _, _ in wire.walk(message, 0, len(message))} <= {(1, 0), (2, 0)}
    except BadProfile:
        return False


def read(data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
    """Read all sample types, inlined frames included.

    If values are negative, the profile is a difference: growth and shrinkage of stacks are separate sample types, and
    ``about["deltas"]`` says which belong together. Frames that the profile itself asks to drop are dropped, as pprof
    does. Raises ``BadProfile`` naming the byte or the sample, and ``TooMuch``.
    """
    if len(data) <= IN_MEMORY:
        data = held.at_once(data)  # a mapped file costs twice as much per byte
    top = wire.top(data)
    held.leave(data, 0, len(data))
    columns = np.frombuffer(data, dtype=np.uint8) if len(data) else np.zeros(0, dtype=np.uint8)
    strings = Strings(data, *top.ranges(STRINGS))
    header = Header(data, top, strings, limits=limits)
    tables = read_tables(columns, top, strings, limits=limits)
    tables.prune(drop=header.drop, keep=header.keep)
    samples = read_samples(
        columns, *top.ranges(SAMPLE), times=header.times, tables=tables, limits=limits, leave=partial(held.leave, data)
    )
    types, deltas = _paired(header.sample_types, samples.shrinking)
    return Stacks(
        format=NAME,
        sample_types=types,
        names=tables.names,
        hints=tables.hints,
        offsets=samples.offsets,
        frames=samples.frames,
        values=samples.values,
        default_type=header.default_type,
        samples=samples.met,
        about={**header.about(), **samples.labels.about(strings, shrinking=samples.shrinking), **deltas},
    )


def _paired(kinds: tuple[SampleType, ...], shrinking: list[int]) -> tuple[tuple[SampleType, ...], dict[str, Any]]:
    """Name the growth and shrinkage of the sample types that have negative values."""
    if not shrinking:
        return kinds, {}
    grown = [replace(kind, name=f"{kind.name}_grown") if at in shrinking else kind for at, kind in enumerate(kinds)]
    shrunk = [replace(kinds[at], name=f"{kinds[at].name}_shrunk") for at in shrinking]
    pairs = [[kinds[at].name, at, len(kinds) + place] for place, at in enumerate(shrinking)]
    return (*grown, *shrunk), {"deltas": pairs}

"""Comments in folded stacks, before the first stack or after the last; Austin writes metadata there. Pure.

Source: github.com/P403n1x87/austin, *Collapsed stack format*: ``# key: value`` lines, times in microseconds, memory in
bytes since version 3 and in KiB before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from evidence.formats import Buffer
from evidence.profile.stacks import SampleType

LOOKED_AT = 1 << 14
SHOWN = 50
LONGEST = 200
_REMARK = re.compile(rb"^#+[ \t]*([^\n]*)", re.MULTILINE)
_SAID = re.compile(r"([\w -]{1,40}?)\s*:\s*(\S.*)")
MICROSECOND = 1_000
KEPT_KIB = 1 << 10


class Austin(NamedTuple):
    """The meaning of Austin's counts: their sample type, and how many of our units one is."""

    type: SampleType
    times: int


def of(data: Buffer) -> list[str]:
    """Return the comments in the first and the last few KiB of a file."""
    size = len(data)
    parts = [data[:LOOKED_AT], data[max(size - LOOKED_AT, LOOKED_AT) :]]
    if parts[1] and size > 2 * LOOKED_AT:
        parts[1] = parts[1].partition(b"\n")[2]
    found = [one.strip() for part in parts for one in _REMARK.findall(part)]
    return [one[:LONGEST].decode(errors="replace") for one in found if one and one[:1] != b"<"][:SHOWN]


def austin(remarks: list[str]) -> Austin | None:
    """Return what the counts mean if Austin wrote the file."""
    said = _pairs(remarks)
    if "austin" not in said:
        return None
    if said.get("mode", "").startswith("mem"):
        major = said["austin"].partition(".")[0]
        old = major.isdecimal() and int(major) < 3
        return Austin(SampleType("memory", "bytes"), KEPT_KIB if old else 1)
    name = "cpu" if said.get("mode") == "cpu" else "wall"
    return Austin(SampleType(name, "nanoseconds"), MICROSECOND)


def about(remarks: list[str]) -> dict[str, Any]:
    """Return the metadata from comments: the comments, and how long Austin recorded."""
    if not remarks:
        return {}
    said = _pairs(remarks)
    duration = said.get("duration", "")
    lasted = "austin" in said and duration.isdecimal() and len(duration) < 16
    return {"comments": remarks, **({"duration_ns": int(duration) * MICROSECOND} if lasted else {})}


def _pairs(remarks: list[str]) -> Mapping[str, str]:
    found = (_SAID.fullmatch(one) for one in remarks)
    return {one[1].strip().lower(): one[2].strip() for one in found if one}

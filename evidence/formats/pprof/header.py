"""A pprof profile's metadata: its sample types, how long it took, its makers' comments."""

from __future__ import annotations

import mmap
from typing import Any

from evidence.formats.base.protobuf import wire
from evidence.formats.base.units import ours
from evidence.formats.pprof.tables import Strings
from evidence.profile.errors import BadProfile, TooMuch
from evidence.profile.limits import Limits
from evidence.profile.stacks import SampleType

Buffer = bytes | mmap.mmap

SAMPLE_TYPE, DROP_FRAMES, KEEP_FRAMES, TIME, DURATION = 1, 7, 8, 9, 10
PERIOD_TYPE, PERIOD, COMMENT, DEFAULT_TYPE = 11, 12, 13, 14
MOST_COMMENTS = 100
# What a count counts, if the name of the sample type says so.
COUNTED = {
    "samples": "samples", "sample": "samples", "goroutine": "goroutines", "threadcreate": "threads",
    "contentions": "contentions",
}  # fmt: skip


class Header:
    """The fields of a profile that occur once, and its sample types.

    ``times`` is, for each sample type, how many of our units one of the file's is.
    """

    def __init__(self, data: Buffer, top: wire.Top, strings: Strings, *, limits: Limits) -> None:
        self._data, self._top, self._strings = data, top, strings
        found = [self._value_type(begin, end) for begin, end in self._each(SAMPLE_TYPE)]
        if len(found) > limits.sample_types:
            raise TooMuch(f"It has {len(found)} sample types; the limit is {limits.sample_types}")
        if not found:
            raise BadProfile("It has no sample type, so its numbers have no meaning")
        self.times = [times for times, _ in found]
        self.sample_types = tuple(kind for _, kind in found)
        self.drop, self.keep = self._text(DROP_FRAMES), self._text(KEEP_FRAMES)

    @property
    def default_type(self) -> int:
        """Return the sample type to show by default: the one the profile names, or its last, as in pprof."""
        wanted = self._text(DEFAULT_TYPE)
        names = [kind.name for kind in self.sample_types]
        return names.index(wanted) if wanted in names else len(names) - 1

    def about(self) -> dict[str, Any]:
        """Return the metadata worth showing to people."""
        about: dict[str, Any] = {}
        if comments := self._comments():
            about["comments"] = comments
        if (duration := self._number(DURATION)) > 0:
            about["duration_ns"] = duration
        if (time := self._number(TIME)) > 0:
            about["time_ns"] = time
        for begin, end in self._each(PERIOD_TYPE):
            times, kind = self._value_type(begin, end)
            about["period"] = {"name": kind.name, "unit": kind.unit, "value": times * self._number(PERIOD)}
        return about

    def _value_type(self, begin: int, end: int) -> tuple[int, SampleType]:
        """Read a name and a unit; return how many of our units one of theirs is, and ours."""
        texts = {1: "", 2: ""}
        for number, kind, start, stop in wire.walk(self._data, begin, end):
            if kind == wire.VARINT and number in texts:
                index = wire.varint(self._data, start, stop)[0]
                texts[number] = self._strings.at(index, f"sample type at byte {begin}")
        times, unit = ours(texts[2])
        if unit == "events":
            unit = COUNTED.get(texts[1], "objects" if "objects" in texts[1] else unit)
        return times, SampleType(texts[1][:200] or "values", unit[:200])

    def _comments(self) -> list[str]:
        found: list[str] = []
        for at, end in self._each(COMMENT):
            place = at
            while place < end and len(found) < MOST_COMMENTS:
                index, place = wire.varint(self._data, place, end)
                found.append(self._strings.at(index, "comment")[:2000])
        return found

    def _text(self, number: int) -> str:
        return self._strings.at(index, f"field {number}") if (index := self._number(number)) else ""

    def _number(self, number: int) -> int:
        """Return a signed 64-bit number; the last one counts."""
        value = 0
        for begin, end in self._each(number):
            value = wire.varint(self._data, begin, end)[0]
        return value - (1 << 64) if value >> 63 else value

    def _each(self, number: int) -> list[tuple[int, int]]:
        begin, end = self._top.ranges(number)
        return list(zip(begin.tolist(), end.tolist(), strict=True))

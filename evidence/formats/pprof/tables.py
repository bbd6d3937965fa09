"""What samples of a pprof profile refer to: locations, and through them functions, mappings and strings."""

from __future__ import annotations

import mmap
import re
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from evidence.formats.base.gather import named
from evidence.formats.base.protobuf import columns, wire
from evidence.formats.pprof.ids import Ids
from evidence.profile.errors import BadProfile, TooMuch
from evidence.profile.limits import Limits
from evidence.profile.stacks import Codes, Ints

Buffer = bytes | mmap.mmap
MAPPING, LOCATION, FUNCTION = 3, 4, 5
NO_HINT, INLINED, KERNEL, MIXED = range(4)
HINTS = ("", "inlined", "kernel", "")
# Where arguments begin; the other two are names with a bracket. Source: ``simplifyFunc`` in ``profile/prune.go``.
_BRACKETS = re.compile(r"\(anonymous namespace\)|operator\(\)|\(")


class Strings:
    """The strings of a profile, decoded on demand."""

    def __init__(self, data: Buffer, begin: Ints, end: Ints) -> None:
        self._data, self._begin, self._end = data, begin, end

    def at(self, index: int, where: str) -> str:
        """Return a string. Raises ``BadProfile``, naming ``where``, for an index out of range."""
        if not 0 <= index < len(self._begin):
            raise BadProfile(f"String {index} doesn't exist: there are {len(self._begin)}", where=where)
        return self._data[int(self._begin[index]) : int(self._end[index])].decode(errors="replace")


@dataclass(slots=True)
class Tables:
    """Locations by id; the functions at location ``i`` are ``frames[first[i]:first[i + 1]]``, innermost first.

    ``pruned`` marks locations below which a sample ends; ``gone`` marks those that are removed along with what is
    below.
    """

    names: list[str]
    hints: list[str]
    ids: Ids
    first: Ints
    frames: Codes
    pruned: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    gone: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))

    def prune(self, *, drop: str, keep: str) -> None:
        """Mark what the profile wants dropped: functions that match ``drop`` and not ``keep``, and what they call.

        Source of the rule: github.com/google/pprof, ``profile/prune.go``. Raises ``BadProfile`` for malformed content.
        """
        if not drop or not len(self.ids):
            return
        bare = [_bare(name) for name in self.names]
        dropped = _matching(drop, bare) & ~_matching(keep, bare)
        hit = dropped[self.frames]
        last = np.maximum.reduceat(np.where(hit, np.arange(len(hit)), -1), self.first[:-1])
        self.pruned = last >= 0
        self.gone = last == self.first[1:] - 1
        inner = np.arange(len(hit)) <= np.repeat(last, np.diff(self.first))
        kept = ~(inner & np.repeat(self.pruned & ~self.gone, np.diff(self.first)))
        sizes = np.add.reduceat(kept.astype(np.int64), self.first[:-1])
        self.frames = self.frames[kept]
        self.first = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])


def _bare(name: str) -> str:
    """Return a name as pprof matches it: without the dot of PowerPC's ABI, and without arguments."""
    name = name.removeprefix(".")
    cut = next((found.start() for found in _BRACKETS.finditer(name) if found[0] == "("), len(name))
    return name[:cut]


def _matching(pattern: str, names: list[str]) -> NDArray[np.bool_]:
    """Return which names a pattern matches as a whole; in RE2, so that none takes long."""
    from evidence.profile import searching

    if not pattern:
        return np.zeros(len(names), dtype=np.bool_)
    try:
        matches = searching.regular(f"^(?:{pattern})$", any_case=False)
    except searching.BadPattern as error:
        raise BadProfile(f"Its drop_frames isn't a valid regular expression: {error}") from error
    return np.fromiter((matches(name) for name in names), dtype=np.bool_, count=len(names))


def read_tables(data: columns.Bytes, top: wire.Top, strings: Strings, *, limits: Limits) -> Tables:
    """Read mappings, functions and locations. Raises ``BadProfile`` for a reference to something missing."""
    return _Reading(data, top, strings, limits).tables()


class _Reading:
    """Names and hints while they are being read."""

    def __init__(self, data: columns.Bytes, top: wire.Top, strings: Strings, limits: Limits) -> None:
        self._data, self._top, self._strings, self._limits = data, top, strings, limits
        self._codes: dict[str, int] = {}

    def tables(self) -> Tables:
        begin, end = self._top.ranges(LOCATION)
        count = len(begin)
        found = columns.fields(self._data, begin, end)
        ids, mapping, address = (columns.scalars(self._data, found.of(number), count) for number in (1, 2, 3))
        lines = found.of(4)
        code = self._functions(lines)
        bare = np.flatnonzero(np.bincount(lines.message, minlength=count) == 0)
        kernel = self._mappings(bare, mapping, address)
        owner = np.concatenate([lines.message, bare])
        frames = np.concatenate([code, self._bare])
        order = np.argsort(owner, kind="stable")
        owner, frames = owner[order], frames[order].astype(np.int32)
        first = np.searchsorted(owner, np.arange(count + 1)).astype(np.int64)
        hints = self._hints(owner, frames, first, kernel)
        return Tables(list(self._codes), hints, Ids(ids, "location"), first, frames)

    def _functions(self, lines: columns.Fields) -> Ints:
        """Return the code of the function that each line of a location names."""
        begin, end = self._top.ranges(FUNCTION)
        found = columns.fields(self._data, begin, end)
        ids, name, system, file = (columns.scalars(self._data, found.of(number), len(begin)) for number in (1, 2, 3, 4))
        texts = np.where(name != 0, name, np.where(system != 0, system, file)).tolist()
        codes = np.fromiter(
            (self._code(self._strings.at(text, f"function {at + 1}") or "[unknown]") for at, text in enumerate(texts)),
            dtype=np.int64,
            count=len(texts),
        )
        inner = columns.fields(self._data, lines.begin, lines.end)
        wanted = columns.scalars(self._data, inner.of(1), len(lines.begin))
        index = Ids(ids, "function").index(wanted, lambda at: f"location {int(lines.message[at]) + 1}", missing=0)
        known = index >= 0
        result = np.full(len(wanted), -1, dtype=np.int64)
        result[known] = codes[index[known]]
        if not known.all():
            result[~known] = self._code("[unknown]")
        return result

    def _mappings(self, bare: Ints, mapping: Ints, address: Ints) -> NDArray[np.bool_]:
        """Name locations without a function by module and address; return which locations are the kernel's."""
        begin, end = self._top.ranges(MAPPING)
        found = columns.fields(self._data, begin, end)
        ids, start, offset, file = (
            columns.scalars(self._data, found.of(number), len(begin)) for number in (1, 2, 4, 5)
        )
        files = [self._strings.at(text, f"mapping {at + 1}") for at, text in enumerate(file.tolist())]
        index = Ids(ids, "mapping").index(mapping, lambda at: f"location {at + 1}", missing=0)
        base = (start - offset).tolist()
        self._bare = np.zeros(len(bare), dtype=np.int64)
        for at, (location, which) in enumerate(zip(bare.tolist(), index[bare].tolist(), strict=True)):
            place = int(address[location]) & (2**64 - 1)
            self._bare[at] = self._code(
                _unsymbolised(files[which], place - base[which]) if which >= 0 else f"0x{place:x}"
            )
        is_kernel = np.array([*(_is_kernel(name) for name in files), False], dtype=np.bool_)
        return is_kernel[index]

    def _hints(self, owner: Ints, frames: Codes, first: Ints, kernel: NDArray[np.bool_]) -> list[str]:
        """Give each name the hint that all its frames agree on: all but the last frame of a location are inlined."""
        inlined = np.arange(len(frames)) != first[owner + 1] - 1
        hint = np.where(kernel[owner], KERNEL, np.where(inlined, INLINED, NO_HINT))
        low = np.full(len(self._codes), MIXED)
        high = np.zeros(len(self._codes), dtype=np.int64)
        np.minimum.at(low, frames, hint)
        np.maximum.at(high, frames, hint)
        return [HINTS[one] if one == other else "" for one, other in zip(low.tolist(), high.tolist(), strict=True)]

    def _code(self, name: str) -> int:
        code = self._codes.setdefault(named(name, limits=self._limits), len(self._codes))
        if code >= self._limits.names:
            raise TooMuch(f"It has more than {self._limits.names:,} functions")
        return code


def _unsymbolised(file: str, address: int) -> str:
    """Write an address within a module, *libc.so.6+0x2724a*."""
    return f"{file.rpartition('/')[2] or '[unknown]'}+0x{address & (2**64 - 1):x}"


def _is_kernel(file: str) -> bool:
    return (
        file.startswith(("[kernel", "[guest.kernel"))
        or "vmlinux" in file
        or file.endswith((".ko", ".ko.xz", ".ko.zst"))
    )

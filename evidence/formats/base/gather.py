"""Build stacks: names become codes, and anything over the limits is refused where it happens."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from evidence.formats.base import overlong
from evidence.profile.errors import BadProfile, TooMuch
from evidence.profile.limits import Limits
from evidence.profile.source_functions import SourceFunction, distinct, identity
from evidence.profile.stacks import Codes, Ints, SampleType, Stacks

MOST = (1 << 63) - 1
UNNAMED = "(unnamed)"
# What no name may contain: it would break a line, a terminal or a database, or reverse the text around it.
CONTROL = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")


def named(name: str, *, limits: Limits) -> str:
    """Return a name fit to be shown and stored: one line, no control characters, truncated if too long."""
    return CONTROL.sub(" ", overlong.cut(name, most=limits.name)).strip() or UNNAMED


class Gather:
    """Collects samples, stack by stack, root first."""

    def __init__(self, types: Sequence[SampleType], *, limits: Limits) -> None:
        if len(types) > limits.sample_types:
            raise TooMuch(f"It has {len(types)} sample types; the limit is {limits.sample_types}")
        self.types = tuple(types)
        self.limits = limits
        self.names: dict[str, int] = {}
        self.hints: list[str] = []
        self._places: dict[str, SourceFunction] = {}
        self._frames = array("i")
        self._offsets = array("q", [0])
        self._values = array("q")
        self._totals = [0] * len(types)

    def code(self, name: str, *, hint: str = "") -> int:
        """Return the code of a name; the first hint given for it stays.

        Raises ``TooMuch`` for more names than the limits allow.
        """
        name = named(name, limits=self.limits)
        code = self.names.setdefault(name, len(self.names))
        if code == len(self.hints):
            if code >= self.limits.names:
                raise TooMuch(f"It has more than {self.limits.names:,} functions")
            self.hints.append(hint)
        return code

    def names_of(self, places: Iterable[SourceFunction], *, begins: bool = False) -> dict[SourceFunction, str]:
        """Return the name of each function, and store which function each name stands for.

        ``begins`` says that lines are where functions begin. All places must be given at once.
        """
        known = {place: identity(place, begins=begins) for place in places}
        shown = distinct(known.values())
        self._places = {named(name, limits=self.limits): place for place, name in shown.items() if place.file}
        return {place: shown[one] for place, one in known.items()}

    def add(self, stack: Sequence[int], values: Sequence[int], *, where: str) -> None:
        """Add one sample: codes from the root on, and what it counts for each sample type.

        Raises ``BadProfile`` for values that do not fit, and ``TooMuch`` over the limits.
        """
        for type, value in enumerate(values):
            self._totals[type] += value
            if value < 0:
                raise BadProfile(f"A sample has a negative value, {value}", where=where)
            if self._totals[type] > MOST:
                raise BadProfile("The values add up to more than fits in 63 bits", where=where)
        self._bound(len(stack), where)
        self._frames.extend(stack)
        self._offsets.append(len(self._frames))
        self._values.extend(values)

    def add_many(self, codes: Codes, sizes: Ints, values: Ints, *, what: str, keys: Sequence[int]) -> None:
        """Add samples: ``sizes`` says how many of ``codes`` each has, ``values`` has a row for each sample type.

        Errors name samples by ``what`` and their key. Raises like ``add``.
        """
        totals = [before + sum(row) for before, row in zip(self._totals, values.tolist(), strict=True)]
        if (
            max(totals) > MOST
            or int(values.min(initial=0)) < 0
            or int(sizes.max(initial=0)) > self.limits.depth
            or len(self._frames) + len(codes) > self.limits.frames
            or len(self._offsets) + len(sizes) > self.limits.stacks
        ):
            ends = np.cumsum(sizes).tolist()
            for end, size, value, key in zip(ends, sizes.tolist(), values.T.tolist(), keys, strict=True):
                self.add(codes[end - size : end].tolist(), value, where=f"{what} {key}")
            return
        self._totals = totals
        self._offsets.frombytes((np.cumsum(sizes) + len(self._frames)).tobytes())
        self._frames.frombytes(codes.astype(np.int32).tobytes())
        self._values.frombytes(values.T.astype(np.int64).tobytes())

    def _bound(self, depth: int, where: str) -> None:
        if depth > self.limits.depth:
            raise TooMuch(f"A stack is {depth:,} frames deep; the limit is {self.limits.depth:,}", where=where)
        if len(self._frames) + depth > self.limits.frames:
            raise TooMuch(f"Its stacks have more than {self.limits.frames:,} frames in all", where=where)
        if len(self._offsets) > self.limits.stacks:
            raise TooMuch(f"It has more than {self.limits.stacks:,} samples", where=where)

    def stacks(self, format: str, *, default_type: int = 0, about: Mapping[str, Any] | None = None) -> Stacks:
        """Return everything collected."""
        values = np.frombuffer(self._values, dtype=np.int64).reshape(-1, len(self.types)).T
        return Stacks(
            format=format,
            sample_types=self.types,
            names=list(self.names),
            offsets=np.frombuffer(self._offsets, dtype=np.int64),
            frames=np.frombuffer(self._frames, dtype=np.int32),
            values=np.ascontiguousarray(values),
            hints=self.hints,
            default_type=default_type,
            about=about or {},
            places={name: place for name, place in self._places.items() if name in self.names},
        )

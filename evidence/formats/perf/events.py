"""The events of a ``perf script`` text, one or two columns each: periods if they are printed, and samples."""

from __future__ import annotations

import numpy as np

from evidence.formats.perf import sample_header
from evidence.profile.limits import Limits
from evidence.profile.stacks import Ints, SampleType

OTHERS = "other events"


class Events:
    """Events in order of first appearance; those beyond the column limit count together."""

    def __init__(self, limits: Limits) -> None:
        self.names: list[str] = []
        self._codes: dict[bytes | None, int] = {}
        self._most = max(1, limits.sample_types // 2)
        self._weighted: set[int] = set()

    def code(self, event: bytes | None, *, weighted: bool) -> int:
        """Return the number of the event, and remember whether it prints periods."""
        code = self._codes.get(event)
        if code is None:
            code = self._codes[event] = min(len(self.names), self._most - 1)
            if code == len(self.names):
                self.names.append((event or b"samples").decode(errors="replace")[:300])
            else:
                self.names[code] = OTHERS
        if weighted:
            self._weighted.add(code)
        return code

    @property
    def default_type(self) -> int:
        """Return the column of the first event that counts a processor's work, or else the first."""
        columns = [code for code, _ in self._columns()]
        cpu = (code for code, name in enumerate(self.names) if sample_header.counts_cpu(name))
        return columns.index(next(cpu, 0))

    def sample_types(self) -> tuple[SampleType, ...]:
        """Name the columns. If there are several events, *samples* alone would not say of which."""
        alone = len(self.names) == 1
        return tuple(
            SampleType(name, sample_header.unit(name))
            if weights
            else SampleType("samples" if alone and self._weighted else self._plain(name), "samples")
            for name, weights in ((self.names[code], weights) for code, weights in self._columns())
        )

    def _plain(self, name: str) -> str:
        return f"{name} samples" if self.names.index(name) in self._weighted else name

    def _columns(self) -> list[tuple[int, bool]]:
        """Return (event, whether by period) for each column."""
        numbers = range(len(self.names))
        return [
            (code, weights) for code in numbers for weights in (True, False) if code in self._weighted or not weights
        ]

    def values(self, events: Ints, stacks: Ints, *, counts: Ints, weights: Ints, size: int) -> Ints:
        """Spread distinct (event, stack) pairs into columns x stacks."""
        columns = self._columns()
        values = np.zeros((len(columns), size), dtype=np.int64)
        for row, (code, by_period) in enumerate(columns):
            of_event = events == code
            values[row, stacks[of_event]] = (weights if by_period else counts)[of_event]
        return values

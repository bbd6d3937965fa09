"""Count samples with the same thread, event and stack together, in the order of each group's first sample. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from evidence.profile.stacks import Ints

MOST = (1 << 63) - 1


class EqualSamples:
    """Groups of samples that have the same numbers.

    ``together`` says which samples are in groups; the others have a negative number.
    """

    def __init__(self, numbers: Sequence[Ints], periods: Ints) -> None:
        self.together: NDArray[np.bool_] = np.logical_and.reduce([column >= 0 for column in numbers])
        chosen = np.flatnonzero(self.together)
        columns = [column[chosen] for column in numbers]
        key = np.zeros(len(chosen), dtype=np.int64)
        for column in columns:
            key = key * (int(column.max(initial=0)) + 1) + column
        order = np.argsort(key, kind="stable")
        starts = np.flatnonzero(np.diff(key[order], prepend=-1))
        self._first = chosen[order[starts]]
        counts = np.diff(starts, append=len(key)).tolist()
        weights = _sums(periods[chosen][order], starts)
        self._groups = list(zip(*(column[order[starts]].tolist() for column in columns), counts, weights, strict=True))

    def in_order(self) -> Iterator[tuple[int, tuple[int, ...] | None]]:
        """Yield the first sample of each group, and each other sample, in order.

        A group has its numbers, its sample count, and its exact weight; other samples have none.
        """
        alone = np.flatnonzero(~self.together)
        samples = np.concatenate([self._first, alone])
        order = np.argsort(samples).tolist()
        groups = [*self._groups, *[None] * len(alone)]
        return zip(samples[order].tolist(), [groups[at] for at in order], strict=True)


def _sums(values: Ints, starts: Ints) -> list[int]:
    """Return the exact sums from each start to the next."""
    if not len(starts):
        return []
    fits = int(values.max()) <= MOST // len(values)
    sums: list[int] = np.add.reduceat(values if fits else values.astype(object), starts).tolist()
    return sums

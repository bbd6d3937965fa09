"""A short run of all tests: every test function, with few rows of a long table and few examples of a law.

What is left out is drawn from a seed: the commit, unless one is given. So a commit repeats its own run, and the next
one draws others.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

import pytest

ROWS = 2
DEAR_EXAMPLES, EXAMPLES = 8, 25  # of laws that use the database or processes, and of others
SHARE = 3  # a walk takes one in so many of its addresses, forms or commands
Step = TypeVar("Step")


@dataclass(frozen=True, slots=True)
class WalkPart:
    """The part of a walk that this run takes: all of it, or in a short run a drawn share."""

    seed: str = ""

    def of(self, steps: Iterable[Step]) -> list[Step]:
        """Return the steps to take, in their order; at least one if there are any."""
        every = list(steps)
        if not self.seed:
            return every
        first = random.Random(self.seed).randrange(SHARE)  # noqa: S311 (which rows, nothing secret)
        return every[first::SHARE] or every[:1]


def left_out(
    items: Iterable[pytest.Item], *, seed: str, is_dear: Callable[[pytest.Item], bool]
) -> Iterator[pytest.Item]:
    """Yield the rows of dear tests that a short run leaves out; every function keeps some."""
    for function, rows in groupby(items, key=lambda item: item.nodeid.partition("[")[0]):
        table = [row for row in rows if is_dear(row)]
        chosen = drawn([_values(row) for row in table], seed=f"{seed} {function}")
        yield from (row for n, row in enumerate(table) if n not in chosen)


def drawn(rows: Sequence[frozenset[Hashable]], *, seed: str, most: int = ROWS) -> set[int]:
    """Return which rows of a table to run: each the one that adds the most values that no earlier one has."""
    chance = random.Random(seed)  # noqa: S311 (which rows, nothing secret)
    left = chance.sample(range(len(rows)), len(rows))
    chosen: set[int] = set()
    seen: frozenset[Hashable] = frozenset()
    while left and len(chosen) < most:
        best = max(left, key=lambda n: len(rows[n] - seen))
        left.remove(best)
        chosen.add(best)
        seen |= rows[best]
    return chosen


def _values(row: pytest.Item) -> frozenset[Hashable]:
    """Return the values of a row, each as its parameter's name and position."""
    spec = getattr(row, "callspec", None)
    return frozenset(spec.indices.items()) if spec else frozenset()

"""Stacks from a graph of calls: what a function costs itself is exact, by which paths it was reached is estimated.

As gprof does, the cost of a function is shared between those that call it by what their calls of it cost in all; what
recursion adds is left out. ``about["estimated"]`` says so to people.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from evidence.formats.base.gather import Gather

# Of all: what is less is not parted further, and follows the caller that costs most.
SMALLEST = 5_000
DEEPEST = 300
# What costs more than all calls of it, by more than rounding explains, was begun by nobody as well.
NOBODY, NOISE = -1, 1_000
ESTIMATED = {"estimated": True}


class CallGraph:
    """Functions by code: what each costs itself, and what the calls of one by another cost in all."""

    def __init__(self) -> None:
        self._own: dict[int, int] = defaultdict(int)
        self._callers: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        self._inside: dict[int, int] = defaultdict(int)  # what each costs with all that it calls

    def costs(self, function: int, value: int) -> None:
        """Add what a function costs itself."""
        self._own[function] += value
        self._inside[function] += value

    def calls(self, caller: int, callee: int, value: int) -> None:
        """Add what calls cost in all."""
        if caller != callee:
            self._callers[callee][caller] += value
            self._inside[caller] += value

    def pour(self, gather: Gather) -> None:
        """Add one sample for each estimated path."""
        least = max(sum(self._own.values()) // SMALLEST, 1)
        for function, value in self._own.items():
            if value > 0:
                for path, part in self._paths(function, value, least):
                    gather.add(path[::-1], [part], where=f"function {function}")

    def _paths(self, function: int, value: int, least: int) -> Iterator[tuple[list[int], int]]:
        """Yield paths up to where nobody calls, and what part of the value each has; the parts add up to it."""
        waiting = [([function], value)]
        while waiting:
            path, left = waiting.pop()
            above = self._above(path) if len(path) < DEEPEST else {}
            if not above:
                yield path, left
                continue
            heaviest = max(above, key=lambda caller: (above[caller], -caller))
            whole = sum(above.values())
            parts = {caller: left * cost // whole for caller, cost in above.items()} if left > least else {}
            parts[heaviest] = parts.get(heaviest, 0) + left - sum(parts.values())
            if alone := parts.pop(NOBODY, 0):
                yield path, alone
            waiting += [([*path, caller], part) for caller, part in parts.items() if part > 0]

    def _above(self, path: list[int]) -> dict[int, int]:
        """Return who calls the last function of a path, for how much; recursion is left out, nobody is a caller too."""
        callers = self._callers.get(path[-1], {})
        found = {caller: cost for caller, cost in callers.items() if caller not in path and cost > 0}
        inside = self._inside[path[-1]]
        alone = inside - sum(callers.values())
        return {**found, NOBODY: alone} if found and alone > inside // NOISE else found

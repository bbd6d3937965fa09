"""Stacks from a call graph: a function's self cost is exact, the paths by which it was reached are estimated.

As in gprof, the cost of a function is distributed among its callers in proportion to the total cost of their calls;
recursion adds nothing, and a cycle of functions is left through the callers outside it. ``about["estimated"]`` tells
people so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from evidence.formats.base.gather import Gather
from evidence.formats.graphs import circles

# Of everything: a smaller part is not split further, and follows the caller that costs most.
SMALLEST = 5_000
DEEPEST = 300
# A function that costs more than all calls to it, by more than rounding explains, is also a root.
NOBODY, NOISE = -1, 1_000
ESTIMATED = {"estimated": True}
Way = tuple[int, ...]  # what a path continues with, from a function up


class CallGraph:
    """Functions by code: each one's self cost, and the total cost of calls from one to another."""

    def __init__(self) -> None:
        self._own: dict[int, int] = defaultdict(int)
        self._callers: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        self._circles: dict[int, int] = {}
        self._alone: dict[int, int] = {}

    def costs(self, function: int, value: int) -> None:
        """Add to a function's self cost."""
        self._own[function] += value

    def calls(self, caller: int, callee: int, value: int) -> None:
        """Add to the total cost of calls."""
        if caller != callee and value > 0:
            self._callers[callee][caller] += value

    def pour(self, gather: Gather, *, type: int = 0) -> None:
        """Add one sample of a sample type for each estimated path."""
        least = max(sum(self._own.values()) // SMALLEST, 1)
        self._circles = circles.of(self._callers)
        self._alone = self._begun_by_nobody()
        for function, value in self._own.items():
            if value > 0:
                for path, part in self._paths(function, value, least):
                    values = [part if one == type else 0 for one in range(len(gather.types))]
                    gather.add(path[::-1], values, where=f"function {function}")

    def _begun_by_nobody(self) -> dict[int, int]:
        """Return each function's cost beyond the calls to it, if that is more than rounding explains.

        In a cycle, calls contain each other's cost many times over: there it is at most the whole cycle's.
        """
        around = self._beyond_calls({function: self._circle(function) for function in self._functions()})
        each = self._beyond_calls({function: function for function in self._functions()})
        return {
            function: min(alone, around[self._circle(function)])
            for function, alone in each.items()
            if self._circle(function) in around
        }

    def _functions(self) -> set[int]:
        return {*self._own, *self._callers, *(caller for callers in self._callers.values() for caller in callers)}

    def _beyond_calls(self, group: Mapping[int, int]) -> dict[int, int]:
        """Return how much more each group of functions costs than the calls from outside it, if it does."""
        inside: dict[int, int] = defaultdict(int)
        called: dict[int, int] = defaultdict(int)
        for function, value in self._own.items():
            inside[group[function]] += value
        for callee, callers in self._callers.items():
            for caller, value in callers.items():
                if group[caller] != group[callee]:
                    inside[group[caller]] += value
                    called[group[callee]] += value
        alone = {one: value - called[one] for one, value in inside.items()}
        return {one: value for one, value in alone.items() if value > inside[one] // NOISE}

    def _circle(self, function: int) -> int:
        return self._circles.get(function, function)

    def _paths(self, function: int, value: int, least: int) -> Iterator[tuple[list[int], int]]:
        """Yield paths up to functions without callers, and the part of the value of each; the parts add up to it."""
        waiting = [([function], value)]
        while waiting:
            path, left = waiting.pop()
            above = self._above(path) if len(path) < DEEPEST else {}
            if not above:
                yield path, left
                continue
            heaviest = max(above, key=lambda way: (above[way], [-one for one in way]))
            whole = sum(above.values())
            parts = {way: left * cost // whole for way, cost in above.items()} if left > least else {}
            parts[heaviest] = parts.get(heaviest, 0) + left - sum(parts.values())
            for way, part in parts.items():
                if way[-1] == NOBODY and part > 0:
                    yield [*path, *way[:-1]], part
            waiting += [([*path, *way], part) for way, part in parts.items() if way[-1] != NOBODY and part > 0]

    def _above(self, path: list[int]) -> dict[Way, int]:
        """Return who calls the last function of a path, and for how much; having no caller counts as one.

        Functions already on the path are left out. If no others call it, it is recursive: the path continues at the
        nearest function up the calls that another function calls.
        """
        on, met = set(path), {path[-1]}
        ways: list[Way] = [()]
        for way in ways:
            function = way[-1] if way else path[-1]
            callers = self._callers.get(function, {})
            if found := {(*way, caller): cost for caller, cost in callers.items() if caller not in on}:
                alone = self._alone.get(function, 0)
                return {**found, (*way, NOBODY): alone} if alone else found
            ways += [(*way, caller) for caller in callers if caller not in met]
            met.update(callers)
        return {}

"""Find functions that call each other in a cycle: Kosaraju's strongly connected components, without recursion."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping

Graph = Mapping[int, Collection[int]]


def of(callers: Graph) -> dict[int, int]:
    """Return for each function in a cycle a number shared by that cycle; other functions are absent."""
    callees: dict[int, list[int]] = defaultdict(list)
    for callee, above in callers.items():
        for caller in above:
            callees[caller].append(callee)
    met: set[int] = set()
    left = [function for begin in callers for function in _reached(begin, callers, met)]
    met.clear()
    circles = [_reached(begin, callees, met) for begin in reversed(left)]
    return {function: circle[0] for circle in circles if len(circle) > 1 for function in circle}


def _reached(begin: int, graph: Graph, met: set[int]) -> list[int]:
    """Return what is reachable from a function and not visited yet, in post-order."""
    if begin in met:
        return []
    met.add(begin)
    left, waiting = [], [(begin, iter(graph.get(begin, ())))]
    while waiting:
        function, others = waiting[-1]
        other = next((one for one in others if one not in met), None)
        if other is None:
            left.append(function)
            waiting.pop()
        else:
            met.add(other)
            waiting.append((other, iter(graph.get(other, ()))))
    return left

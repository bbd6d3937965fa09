"""Stacks that a format stores as a tree: each node has a name and a parent, and counts something itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evidence.formats.base.gather import Gather
from evidence.profile.errors import BadProfile

Key = int | str
# Node -> its function's code (None: no function) and its parent (None: it is a root).
Nodes = Mapping[Key, tuple[int | None, Key | None]]


def grow(gather: Gather, nodes: Nodes, values: Mapping[Key, Sequence[int]]) -> None:
    """Add one sample for each node that counts something. Raises ``BadProfile`` for cyclic or missing parents."""
    for node, counts in values.items():
        if any(counts):
            gather.add(path(nodes, node, deepest=gather.limits.depth), counts, where=f"node {node}")


def path(nodes: Nodes, node: Key, *, deepest: int) -> list[int]:
    """Return the codes from the root down to a node. Raises ``BadProfile`` for a cycle."""
    up: list[int] = []
    at: Key | None = node
    steps = 0
    while at is not None:
        if at not in nodes:
            raise BadProfile(f"Node {at} does not exist", where=f"node {node}")
        code, at = nodes[at]
        if code is not None:
            up.append(code)
        steps += 1
        if steps > min(len(nodes), deepest + 2):
            raise BadProfile("Its parents form a cycle, or are nested too deeply", where=f"node {node}")
    return up[::-1]

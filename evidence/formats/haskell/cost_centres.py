"""The common part of GHC's two profiles: a tree of cost centres, each with its own time and memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from evidence.formats.base.gather import Gather
from evidence.profile.errors import BadProfile
from evidence.profile.limits import Limits
from evidence.profile.source_functions import SourceFunction
from evidence.profile.stacks import SampleType

KINDS = (SampleType("time", "nanoseconds"), SampleType("alloc_space", "bytes"))
ROOT = "MAIN"
MICROSECOND = 1_000


class CostCentre(NamedTuple):
    """A node of the tree: its function, its parent's index (-1: none), and its own time and memory."""

    place: SourceFunction
    above: int
    time_ns: int
    alloc: int


def place(label: str, module: str, source: str) -> SourceFunction:
    """Name a cost centre by its module; the source distinguishes those with the same name."""
    name = ROOT if label == module == ROOT else f"{module}.{label}" if module else label
    return SourceFunction(name, source)


def gathered(nodes: Sequence[CostCentre], *, limits: Limits) -> Gather:
    """Add one sample for each node with own costs; the root of the tree is not a frame. Raises ``BadProfile``."""
    if not nodes:
        raise BadProfile("It has no cost centres")
    gather = Gather(KINDS, limits=limits)
    names = gather.names_of(node.place for node in nodes)
    paths: list[list[int]] = []
    for at, node in enumerate(nodes):
        own = [] if node.place.name == ROOT else [gather.code(names[node.place])]
        paths.append([*(paths[node.above] if node.above >= 0 else []), *own])
        if node.time_ns or node.alloc:
            gather.add(paths[-1], (node.time_ns, node.alloc), where=f"cost centre {at + 1}")
    return gather

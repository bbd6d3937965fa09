"""Draw a call tree: the boxes visible under one node, as columns small enough to send at once. Pure.

However large the profile is, the response holds at most ``BUDGET`` boxes: the widest. Narrower ones are counted but not
drawn, and are fetched on zoom. Every number is exact; only the picture is pruned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from evidence.analysis import colours, layers
from evidence.profile.stacks import Ints
from evidence.tree.calltree import ROOT, CallTree

BUDGET = 2_500
FIRST_SHARE = 1 / 1000  # of the requested width: about a pixel of a screen
FINER = 4
EXACT = 2**53  # beyond this, a browser's numbers have gaps
HEAT_STEPS, CHANGE_STEPS = 8, 4


class Widths(Protocol):
    """The width of each node, indexed by place, places or slice: an array, or an object that computes it on demand."""

    def __getitem__(self, nodes: Any, /) -> Any: ...


@dataclass(frozen=True, slots=True)
class Boxes:
    """The boxes under a root, in breadth-first order: ``level`` from 0, ``x`` and ``width`` in the tree's unit."""

    node: Ints
    level: Ints
    x: Ints
    width: Ints
    own: Ints
    pruned: int


def widest(tree: CallTree, widths: Widths, *, root: int = ROOT, budget: int = BUDGET) -> Boxes:
    """Return the widest boxes under ``root``, at most ``budget``. ``widths`` holds one width per node, in one unit.

    It goes from coarse to fine and stops when there are enough, so that the cost follows what is visible.
    """
    total = int(widths[root])
    least = max(1, int(total * FIRST_SHARE))
    found = _wide(tree, widths, root, least)
    while len(found.node) < budget and found.pruned and least > 1:
        least = max(1, least // FINER)
        found = _wide(tree, widths, root, least)
    return _trimmed(found, budget)


def _wide(tree: CallTree, widths: Widths, root: int, least: int) -> Boxes:
    """Return all boxes that are at least ``least`` wide; children are aligned with their parent's left edge."""
    nodes, xs = np.array([root], dtype=np.int64), np.zeros(1, dtype=np.int64)
    rows: list[tuple[Ints, Ints, Ints, Ints]] = []
    pruned = 0
    while len(nodes):
        low, high = tree.first[nodes].astype(np.int64), tree.first[nodes + 1].astype(np.int64)
        counts = high - low
        owner = np.repeat(np.arange(len(nodes)), counts)
        starts = np.cumsum(counts) - counts
        inside = low[owner] + np.arange(len(owner)) - starts[owner]
        width = widths[inside].astype(np.int64)
        before = np.concatenate([[0], np.cumsum(width)]).astype(np.int64)
        own = widths[nodes].astype(np.int64) - (before[starts + counts] - before[starts])
        rows.append((nodes, xs, widths[nodes].astype(np.int64), own))
        x = xs[owner] + before[:-1] - before[starts[owner]]
        wide = width >= least
        pruned += int(np.count_nonzero(~wide & (width > 0)))
        nodes, xs = inside[wide], x[wide]
    node, x, width, own = (np.concatenate([row[part] for row in rows]) for part in range(4))
    level = np.repeat(np.arange(len(rows)), [len(row[0]) for row in rows])
    return Boxes(node, level, x, width, own, pruned)


def _trimmed(found: Boxes, budget: int) -> Boxes:
    """Keep the widest boxes; among equals those nearer to the root. A kept box's parent is always kept."""
    if len(found.node) <= budget:
        return found
    keep = np.sort(np.lexsort((found.node, -found.width))[:budget])
    node, level, x, width, own = (column[keep] for column in (found.node, found.level, found.x, found.width, found.own))
    return Boxes(node, level, x, width, own, found.pruned + len(found.node) - budget)


def payload(tree: CallTree, *, type: int = 0, root: int = ROOT, budget: int = BUDGET) -> dict[str, Any]:
    """Return what a page needs to draw ``root``, everything under it, and the path of callers to it."""
    widths = tree.totals[type]
    boxes = widest(tree, widths, root=root, budget=budget)
    kind = tree.sample_types[type]
    names = FrameNames(tree)
    columns = columns_of(boxes, names.local(tree.name[boxes.node], boxes.node), own=True)
    return {
        "type": type,
        "name": kind.name,
        "unit": kind.unit,
        "root": root,
        "total": tree.total(type),
        "path": [_step(tree, widths, names, node) for node in [ROOT, *tree.path(root)[:-1]]] if root != ROOT else [],
        "pruned": boxes.pruned,
        **columns,
        **names.told(),
    }


def columns_of(boxes: Boxes, codes: Sequence[int], *, own: bool) -> dict[str, Any]:
    """Return boxes as columns of differences, one list per level, which compress well.

    ``gap``: from the end of the previous box on the level; ``width``, ``own``: as they are; ``code``: into the
    response's names; ``node``: from the previous node.
    """
    edges = np.flatnonzero(np.diff(boxes.level, prepend=-1, append=-1))
    shift = _shift(int(boxes.width[0]) if len(boxes.width) else 0)
    rows = []
    for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        x, width = boxes.x[low:high] >> shift, boxes.width[low:high] >> shift
        ends = np.concatenate([[0], (x + width)[:-1]])
        row = [(x - ends).tolist(), width.tolist(), list(codes[low:high])]
        row.append(np.diff(boxes.node[low:high], prepend=0).tolist())
        rows.append([*row, (boxes.own[low:high] >> shift).tolist()] if own else row)
    return {"levels": rows, "shift": shift}


def _shift(total: int) -> int:
    """Return how many bits to shift numbers by so that a browser can hold them; nearly always none."""
    return max(0, total.bit_length() - EXACT.bit_length() + 1)


def _step(tree: CallTree, widths: Widths, names: FrameNames, node: int) -> list[int]:
    own = int(widths[node]) - int(widths[tree.first[node] : tree.first[node + 1]].sum())
    code = names.local(tree.name[[node]], np.array([node]))[0]
    return [node, code, int(widths[node]), own]


class FrameNames:
    """The names of one response: each listed once, with its layer and package; -1 stands for the root."""

    def __init__(self, tree: CallTree) -> None:
        self.tree = tree
        self.codes: dict[int, int] = {}
        self.mostly = layers.mostly(tree.names, format=tree.format)

    def local(self, codes: NDArray[np.integer[Any]], nodes: NDArray[np.integer[Any]]) -> list[int]:
        """Return for each box the index of its name in this response; ``codes`` and ``nodes`` hold a number per box."""
        pairs = zip(codes.tolist(), nodes.tolist(), strict=True)
        return [-1 if node == ROOT else self.codes.setdefault(code, len(self.codes)) for code, node in pairs]

    def told(self) -> dict[str, Any]:
        """Return names, their codes in the whole profile, their layers, and their packages."""
        names = [self.tree.names[code] for code in self.codes]
        hints = [self.tree.hints[code] for code in self.codes]
        places = layers.places(names, hints, mostly=self.mostly)
        packages = [layers.package_of(name, layers.LAYERS[at].key) for name, at in zip(names, places, strict=True)]
        known = {package: at for at, package in enumerate(dict.fromkeys(packages))}
        return {
            "names": names,
            "codes": np.diff(list(self.codes), prepend=0).tolist(),
            "layers": places,
            "packages": list(known),
            "package": [known[package] for package in packages],
            "shades": [colours.shade_of(name) for name in names],
            "package_colours": colours.table([colours.of_package(package) for package in known]),
        }


def palette() -> dict[str, Any]:
    """Return the colours and words of all layers and of the heat scale, for pages to draw with."""
    heat = [colours.heat(step, HEAT_STEPS) for step in range(HEAT_STEPS)]
    return {
        "layers": [{"key": one.key, "label": one.label, **colours.table(one.shades)} for one in layers.LAYERS],
        "heat": colours.table(heat),
        "change": colours.table(
            [colours.change(step, CHANGE_STEPS) for step in range(-CHANGE_STEPS, CHANGE_STEPS + 1)]
        ),
        "found": dict(zip(("light", "dark"), colours.FOUND, strict=True)),
        "ink": {"light": colours.INK[0], "dark": colours.INK[1]},
    }

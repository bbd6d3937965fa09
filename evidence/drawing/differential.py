"""Draw a merged tree of two or more profiles: where one has more or less than another. Pure.

Widths follow the requested side, or both sides together, so that new and vanished functions are visible. Shares are of
each side's own total (normalised); absolute values are as counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evidence.drawing import flamegraph
from evidence.tree.calltree import ROOT, CallTree

WIDTHS = ("both", "before", "after")
BUDGET = 2_400
BITS = 20  # precision with which two totals are brought to one scale
WORD = 63  # bits of numpy's integers


def payload(
    merged: CallTree,
    *,
    before: int = 0,
    after: int = 1,
    width: str = "both",
    absolute: bool = False,
    root: int = ROOT,
    budget: int = BUDGET,
) -> dict[str, Any]:
    """Return what a page needs to draw the difference under ``root``; each box with its exact total on both sides."""
    widths = widths_of(merged, before=before, after=after, width=width, absolute=absolute)
    boxes = flamegraph.widest(merged, widths, root=root, budget=budget)
    names = flamegraph.FrameNames(merged)
    told = flamegraph.columns_of(boxes, names.local(merged.name[boxes.node], boxes.node), own=False)
    edges = np.flatnonzero(np.diff(boxes.level, prepend=-1, append=-1))
    for row, low, high in zip(told["levels"], edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        nodes = boxes.node[low:high]
        row.extend([[], merged.totals[before, nodes].tolist(), merged.totals[after, nodes].tolist()])
    path = [ROOT, *merged.path(root)[:-1]] if root != ROOT else []
    return {
        "unit": merged.sample_types[before].unit,
        "root": root,
        "total": int(widths[ROOT]),
        "totals": [merged.total(before), merged.total(after)],
        "path": [_step(merged, widths, names, node, (before, after)) for node in path],
        "pruned": boxes.pruned,
        "width": width,
        "absolute": absolute,
        **told,
        **names.told(),
    }


@dataclass(frozen=True, slots=True)
class JoinedWidths:
    """Widths with both sides joined, computed only for the nodes looked at: there may be millions."""

    sides: Sequence[NDArray[np.integer[Any]]]
    factors: Sequence[int]
    shift: int = 0
    bits: int = 0

    def __getitem__(self, nodes: Any, /) -> Any:
        scaled = (
            (side[nodes].astype(np.int64) >> self.shift) * factor
            for side, factor in zip(self.sides, self.factors, strict=True)
        )
        return sum(scaled) >> self.bits


def widths_of(merged: CallTree, *, before: int, after: int, width: str, absolute: bool) -> flamegraph.Widths:
    """Return every node's width, in the unit of the merged tree's totals unless both sides are joined.

    Both sides are joined with integer factors, so that children lie within their parents.
    """
    sides = before, after
    if width != "both":
        one: flamegraph.Widths = merged.totals[sides[WIDTHS.index(width) - 1]]
        return one
    totals = [merged.total(side) for side in sides]
    columns = [merged.totals[side] for side in sides]
    if absolute:
        return JoinedWidths(columns, [1, 1], shift=max(0, sum(totals).bit_length() - WORD))
    most = max(*totals, 1)
    factors = [min(round((most << BITS) / max(1, total)), 1 << 2 * BITS) for total in totals]
    return JoinedWidths(columns, factors, shift=max(0, most.bit_length() - 41), bits=BITS)


def _step(
    merged: CallTree, widths: flamegraph.Widths, names: flamegraph.FrameNames, node: int, sides: tuple[int, int]
) -> list[int]:
    code = names.local(merged.name[[node]], np.array([node]))[0]
    return [node, code, int(widths[node]), 0, *(merged.total(side, node) for side in sides)]

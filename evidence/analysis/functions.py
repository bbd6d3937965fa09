"""The functions of a profile as a table: sorted, filtered, a page at a time, with exact self and total. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evidence.analysis import layers
from evidence.tree import tree_boxes
from evidence.tree.calltree import CallTree

PAGE = 25
SORTS = ("total", "self", "name")


@dataclass(frozen=True, slots=True)
class FunctionRow:
    """One function: exact values in the sample type's unit, and their shares of all from 0 to 1."""

    code: int
    name: str
    layer: str
    package: str
    total: int
    self_: int
    share: float
    self_share: float


@dataclass(frozen=True, slots=True)
class FunctionPage:
    """One page of functions; ``found`` counts the matches, ``of`` all functions."""

    rows: list[FunctionRow]
    page: int
    pages: int
    found: int
    of: int


def table(
    tree: CallTree, *, type: int, sort: str = "total", page: int = 1, matches: Callable[[str], bool] | None = None
) -> FunctionPage:
    """Return a page of the functions that count anything, largest first; equals in the order of their names."""
    total, own = tree.function_totals[type], tree.self_[type]
    codes = np.flatnonzero(total > 0)
    of = len(codes)
    if matches is not None:
        hit = np.fromiter((matches(tree.names[code]) for code in codes.tolist()), dtype=np.bool_, count=of)
        codes = codes[hit]
    if sort != "name":  # codes are already in the order of names
        first, second = (own, total) if sort == "self" else (total, own)
        codes = codes[np.lexsort((codes, -second[codes], -first[codes]))]
    pages = max(1, -(-len(codes) // PAGE))
    page = min(max(1, page), pages)
    shown = codes[(page - 1) * PAGE : page * PAGE].tolist()
    mostly = layers.mostly(tree.names, format=tree.format)
    return FunctionPage([_row(tree, type, code, mostly) for code in shown], page, pages, len(codes), of)


def everywhere(tree: CallTree, code: int, *, type: int) -> tuple[int, int]:
    """Return a function's total and self from the nodes of a tree, whose totals may leave something out.

    Recursion counts once. For a whole tree, this equals its tables of functions.
    """
    places = 1 + np.flatnonzero(tree.name[1:] == code)
    inside, _ = tree_boxes.children(tree.first, places.astype(np.int32))
    outermost, all_of_it, below = (tree.totals[type, nodes] for nodes in (tree.nodes_of(code), places, inside))
    return int(outermost.sum(dtype=np.int64)), int(all_of_it.sum(dtype=np.int64) - below.sum(dtype=np.int64))


def _row(tree: CallTree, type: int, code: int, mostly: str) -> FunctionRow:
    name, whole = tree.names[code], tree.total(type) or 1
    total, own = int(tree.function_totals[type, code]), int(tree.self_[type, code])
    layer = layers.layer_of(name, tree.hints[code], mostly=mostly)
    package = layers.package_of(name, layer)
    return FunctionRow(
        code,
        name,
        layers.LAYERS[layers.PLACE[layer]].label,
        package if package != layer else "",  # frames without a package are grouped by layer
        total,
        own,
        total / whole,
        own / whole,
    )

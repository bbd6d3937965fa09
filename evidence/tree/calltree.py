"""A profile as a columnar call tree: arrays in breadth-first order, small to store and cheap to query. Pure.

Needs numpy alone. Everything that is said about a profile (totals, shares, searches) is computed on the whole tree in
exact integers; only what is drawn is pruned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import lt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evidence.profile.source_functions import SourceFunction
from evidence.profile.stacks import Codes, Ints, SampleType, Stacks
from evidence.tree import container, stored_places, tree_boxes, tree_growing, tree_levels
from evidence.tree.stored_places import StoredPlaces
from evidence.tree.tree_boxes import DrawableBoxes
from evidence.tree.tree_growing import Grown
from evidence.tree.tree_levels import TreeLevel, merge_level

ROOT = 0
ROOT_NAME = "all"
Matches = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class SearchMatches:
    """The result of a search: the exact ``total`` of samples that pass through a matching frame, each counted once."""

    total: int
    of: int
    codes: Codes

    @property
    def share(self) -> float:
        """The part of the root that was searched, between 0 and 1."""
        return self.total / self.of if self.of else 0.0


@dataclass
class CallTree:
    """Nodes in breadth-first order; node 0 is the root, which stands for all samples and has no name.

    The children of ``i`` are ``first[i]`` up to ``first[i + 1]``, in the order of their names; level ``d`` begins at
    ``levels[d]``. ``totals[t, i]`` counts the samples that pass through ``i``. ``self_`` and ``function_totals`` hold
    one row per sample type and one column per name; a function's total counts a sample once however often it recurs
    there.
    """

    names: Sequence[str]
    hints: list[str]
    name: Codes
    parent: Codes
    first: Codes
    levels: Ints
    totals: NDArray[np.integer[Any]]
    self_: Ints
    function_totals: Ints
    sample_types: tuple[SampleType, ...]
    default_type: int = 0
    format: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)
    places: Mapping[str, SourceFunction] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.name)

    def total(self, type: int | None = None, node: int = ROOT) -> int:
        """Return a node's total, in the sample type's unit."""
        return int(self.totals[self.default_type if type is None else type, node])

    def own(self, type: int) -> Ints:
        """Return every node's self value, without its children: shape (nodes,), in the sample type's unit."""
        return tree_levels.own(self.totals[type], self.first)

    def name_of(self, node: int) -> str:
        """Return the name of a node's function."""
        return self.names[self.name[node]] if node != ROOT else ROOT_NAME

    def path(self, node: int) -> list[int]:
        """Return the nodes from the root's child down to ``node``, both included."""
        up = []
        while node != ROOT:
            up.append(node)
            node = int(self.parent[node])
        return up[::-1]

    def boxes(self, *, root: int = ROOT, type: int = 0, least: int = 1) -> DrawableBoxes:
        """Return the boxes under ``root`` that are at least ``least`` wide; the cost follows what is visible."""
        return tree_boxes.seen(self.name, self.first, self.totals[type], root=root, least=least)

    def _children(self, nodes: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return all children of some nodes, and for each the index of its parent among them."""
        return tree_boxes.children(self.first, nodes)

    def search(self, matches: Matches, *, root: int = ROOT, type: int = 0) -> SearchMatches:
        """Return how much of ``root`` passes through a frame whose name matches: exact, with overlap counted once.

        Totals are in the sample type's unit; codes are ascending.
        """
        hit = np.fromiter((matches(name) for name in self.names), dtype=np.bool_, count=len(self.names))
        codes = np.flatnonzero(hit).astype(np.int32)
        total = sum(int(self.totals[type, nodes].sum()) for nodes in self._outermost(hit, root))
        return SearchMatches(total, self.total(type, root), codes)

    def _outermost(self, hit: NDArray[np.bool_], root: int = ROOT) -> list[NDArray[np.int64]]:
        """Return, level by level, the matching nodes under ``root`` that are not below another matching node."""
        if root == ROOT:
            nodes = 1 + np.flatnonzero(hit[self.name[1:]])
            if len(nodes) * len(self.levels) < len(self):
                return [self._topmost(nodes, hit)]
        low, high = root, root + 1
        covered = np.array([root != ROOT and bool(hit[self.name[root]])])
        found = [np.array([root])] if covered[0] else []
        while (next_low := int(self.first[low])) < (next_high := int(self.first[high])):
            above = covered[self.parent[next_low:next_high] - low]
            here = hit[self.name[next_low:next_high]]
            found.append(np.flatnonzero(here & ~above) + next_low)
            covered = above | here
            low, high = next_low, next_high
        return found

    def _topmost(self, nodes: NDArray[np.int64], hit: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return those of a few nodes that are not below a matching node, by climbing up from each."""
        covered = np.zeros(len(nodes), dtype=np.bool_)
        climbing, above = np.arange(len(nodes)), self.parent[nodes]
        while len(climbing):
            inside = above != ROOT
            climbing, above = climbing[inside], above[inside]
            under = hit[self.name[above]]
            covered[climbing[under]] = True
            climbing, above = climbing[~under], self.parent[above[~under]]
        return nodes[~covered]

    def nodes_of(self, code: int) -> NDArray[np.int64]:
        """Return the outermost nodes of a function, level by level: node numbers, shape (how many,)."""
        hit = np.zeros(len(self.names), dtype=np.bool_)
        hit[code] = True
        found = self._outermost(hit)
        return np.concatenate(found) if found else np.empty(0, dtype=np.int64)

    def callees(self, code: int) -> CallTree:
        """Return a function's callees from all its call sites, as a tree whose root's child is the function itself."""
        nodes = self.nodes_of(code)

        def deeper(nodes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
            return self._children(nodes.astype(np.int32))

        return self._grown(
            nodes, self.totals[:, nodes].astype(np.int64), lambda nodes, weights: _with_own(self, *deeper(nodes))
        )

    def callers(self, code: int) -> CallTree:
        """Return a function's callers, inverted: the root's child is the function, whose children are its callers."""
        nodes = self.nodes_of(code)

        def higher(nodes: NDArray[np.int64], weights: Ints) -> tuple[NDArray[np.int64], NDArray[np.int64], Ints]:
            above = self.parent[nodes].astype(np.int64)
            there = np.flatnonzero(above != ROOT)
            return above[there], there, weights[:, there]

        return self._grown(nodes, self.totals[:, nodes].astype(np.int64), higher)

    def _grown(
        self,
        nodes: NDArray[np.int64],
        weights: Ints,
        step: Callable[[NDArray[np.int64], Ints], tuple[NDArray[np.int64], NDArray[np.int64], Ints]],
    ) -> CallTree:
        """Merge nodes of this tree into a new one, level by level; ``step`` goes from nodes to the next ones."""
        levels: list[TreeLevel] = []
        group = np.zeros(len(nodes), dtype=np.int64)
        while len(nodes):
            level, group = merge_level(group, self.name[nodes], weights, len(self.names))
            levels.append(level)
            nodes, origin, weights = step(nodes, weights)
            group = group[origin]
        return from_levels(self, levels)

    @cached_property
    def by_name(self) -> Mapping[str, int]:
        """Each function's code by its name."""
        return {name: code for code, name in enumerate(self.names)}

    def stacks(self) -> Stacks:
        """Return the tree as stacks again: one sample for each node with a self value."""
        own = np.stack([self.own(type) for type in range(len(self.sample_types))])
        ends = np.flatnonzero(own.any(axis=0))
        depth = (np.searchsorted(self.levels, ends, side="right") - 1).astype(np.int64)
        offsets = np.concatenate([[0], np.cumsum(depth)]).astype(np.int64)
        frames = np.empty(int(offsets[-1]), dtype=np.int32)
        at, place = ends.copy(), offsets[1:] - 1
        while len(alive := np.flatnonzero(at != ROOT)):
            at, place = at[alive], place[alive]
            frames[place] = self.name[at]
            at, place = self.parent[at].astype(np.int64), place - 1
        return Stacks(
            self.format, self.sample_types, list(self.names), offsets, frames, own[:, ends], self.hints,
            self.default_type, self.about,
        )  # fmt: skip

    def save(self, path: Path) -> None:
        """Write the tree to a file that ``open`` maps into memory."""
        head = {
            "sample_types": [[one.name, one.unit] for one in self.sample_types],
            "default_type": self.default_type,
            "format": self.format,
            "about": dict(self.about),
            "places": stored_places.written(self.places),
            "hints": {str(code): hint for code, hint in enumerate(self.hints) if hint},
        }
        arrays = {
            key: tree_levels.narrowed(getattr(self, key)) if key in _NARROWED else getattr(self, key) for key in _ARRAYS
        }
        container.write(path, head=head, arrays=arrays, words=self.names)

    @classmethod
    def open(cls, path: Path) -> CallTree:
        """Map a stored tree into memory; everything but the names is read on demand."""
        head, arrays, names = container.read(path)
        hints = [""] * len(names)
        for code, hint in head["hints"].items():
            hints[int(code)] = hint
        types = tuple(SampleType(*one) for one in head["sample_types"])
        return cls(
            names=names, hints=hints, sample_types=types, default_type=head["default_type"], format=head["format"],
            about=head["about"], places=StoredPlaces(head.get("places", "{}")), **arrays,
        )  # fmt: skip


_NARROWED = ("name", "totals")
_ARRAYS = ("name", "parent", "first", "levels", "totals", "self_", "function_totals")


def _with_own(tree: CallTree, nodes: NDArray[np.int64], origin: NDArray[np.int64]) -> tuple[Any, Any, Ints]:
    return nodes, origin, tree.totals[:, nodes].astype(np.int64)


def build(stacks: Stacks) -> CallTree:
    """Build the tree of all samples; names are sorted, so that siblings are in the order of their names."""
    stacks = _in_order(stacks)
    samples = tree_growing.GrowingSamples.of(stacks)
    grown = tree_growing.grow(samples)
    levels = np.cumsum([0, 1, *(len(level.name) for level in grown)], dtype=np.int64)
    starts = levels.astype(np.int32)
    ends = np.concatenate([starts[:0], *(level.ends + start for level, start in zip(grown, starts[1:], strict=False))])
    none = np.zeros((len(stacks.sample_types), 0), dtype=np.int64)
    ended = np.concatenate([none, *(level.own for level in grown)], axis=1)
    like = np.concatenate([levels[:0], *(level.like for level in grown)])
    name, parent = _nodes(grown, starts, names=len(stacks.names))
    first = tree_levels.first_of(parent)
    own = np.zeros((len(none), len(name)), dtype=tree_levels.width_of(max(stacks.totals)))
    own[:, ends] = ended
    own[:, ROOT] = stacks.values[:, samples.lengths == 0].sum(axis=1)
    return CallTree(
        names=stacks.names, hints=stacks.hints, name=name, parent=parent, first=first, levels=levels,
        totals=tree_levels.upwards(own, first, levels),
        self_=tree_levels.by_name(name[ends], ended, len(stacks.names)),
        function_totals=tree_growing.through(samples, like, ended), sample_types=stacks.sample_types,
        default_type=stacks.default_type, format=stacks.format, about=stacks.about, places=stacks.places,
    )  # fmt: skip


def _nodes(grown: list[Grown], starts: Codes, *, names: int) -> tuple[Codes, Codes]:
    """Return the names and parents of all nodes; levels are released as they are joined."""
    size = int(starts[-1])
    name, parent = np.zeros(size, dtype=tree_levels.width_of(names)), np.zeros(size, dtype=np.int32)
    for depth in range(len(grown) - 1, -1, -1):
        level, here = grown.pop(), slice(starts[depth + 1], starts[depth + 2])
        name[here] = level.name
        np.add(level.parent, starts[depth], out=parent[here])
    return name, parent


def _self_of(totals: Ints, name: Codes, first: Codes, names: int) -> Ints:
    own = tree_levels.own(totals, first)
    ends = 1 + np.flatnonzero(own[1:])
    sums: Ints = tree_levels.by_name(name[ends], own[np.newaxis, ends], names)[0]
    return sums


def _in_order(stacks: Stacks) -> Stacks:
    if all(map(lt, stacks.names, stacks.names[1:])):
        return stacks
    order = sorted(range(len(stacks.names)), key=stacks.names.__getitem__)
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return Stacks(
        stacks.format, stacks.sample_types, [stacks.names[code] for code in order], stacks.offsets,
        rank[stacks.frames] if order else stacks.frames, stacks.values,
        [stacks.hints[code] for code in order], stacks.default_type, stacks.about, places=stacks.places,
    )  # fmt: skip


def from_levels(like: CallTree, levels: list[TreeLevel]) -> CallTree:
    """Join levels into a tree whose root counts the sum of its children; ``function_totals`` are 0."""
    sizes = [1, *(len(level.name) for level in levels)]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    n = int(starts[-1])
    types = len(like.sample_types)
    name, parent, totals = np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros((types, n), np.int64)
    totals[:, 0] = levels[0].totals.sum(axis=1) if levels else 0
    for depth, level in enumerate(levels, start=1):
        here = slice(starts[depth], starts[depth + 1])
        name[here], parent[here], totals[:, here] = level.name, level.parent + np.int32(starts[depth - 1]), level.totals
    first = tree_levels.first_of(parent)
    self_ = np.stack([_self_of(row, name, first, len(like.names)) for row in totals])
    return CallTree(
        names=like.names, hints=like.hints, name=name, parent=parent, first=first, levels=starts, totals=totals,
        self_=self_, function_totals=np.zeros_like(self_), sample_types=like.sample_types,
        default_type=like.default_type, format=like.format, about=like.about,
    )  # fmt: skip

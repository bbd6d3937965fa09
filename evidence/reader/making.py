"""Make slow outputs from a stored tree, in a separate process: exports and search results. Pure."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from evidence.tree.calltree import CallTree

NICE: Final = 5  # pages go first
CPU_S: Final = 60
HIGHLIGHTED: Final = 20_000  # functions a page is told to highlight, at most; the shares count all of them
Asked = Mapping[str, Any]


def pprof(tree: CallTree, asked: Asked) -> Iterable[bytes]:
    """Return all sample types as gzipped pprof."""
    from evidence.exports import exports

    return [exports.pprof(tree.stacks())]


def folded(tree: CallTree, asked: Asked) -> Iterable[bytes]:
    """Yield one sample type (``type``) as folded stacks."""
    from evidence.exports import exports

    return exports.folded(tree.stacks(), type=asked["type"])


def search(tree: CallTree, asked: Asked) -> Iterable[bytes]:
    """Return the result of ``found`` as JSON."""
    return [json.dumps(found(tree, **asked)).encode()]


def found(tree: CallTree, *, type: int, root: int, q: str, idle: bool) -> dict[str, Any]:
    """Return the exact share that passes through what ``q`` matches, of the whole and of one node, as plain values."""
    import numpy as np

    from evidence.analysis import idleness
    from evidence.profile.searching import matcher

    tree = tree if idle else idleness.busy(tree)
    every = tree.search(matcher(q), type=type)
    zoomed = _within(tree, every.codes.tolist(), root, type) if root else every
    most = every.codes
    if len(most) > HIGHLIGHTED:
        most = np.sort(most[np.argsort(-tree.function_totals[type, most])[:HIGHLIGHTED]])
    return {
        "total": every.total,
        "share": every.share,
        "functions": len(every.codes),
        "root": root,
        "zoomed_total": zoomed.total,
        "zoomed_share": zoomed.share,
        "codes": np.diff(most, prepend=0).tolist(),
    }


def _within(tree: CallTree, codes: list[int], root: int, type: int) -> Any:
    """Search again under one node, for the names already known to match."""
    names = {tree.names[code] for code in codes}
    return tree.search(names.__contains__, root=root, type=type)


FORMS: Final[Mapping[str, Callable[[CallTree, Asked], Iterable[bytes]]]] = {
    "pprof": pprof,
    "folded": folded,
    "search": search,
}


def main() -> int:
    """Read what to make as JSON (form, tree, out, asked), write it, and return the exit code."""
    from evidence.reader import reading
    from evidence.tree.calltree import CallTree

    os.nice(NICE)
    reading.bound(cpu_s=CPU_S)
    given = json.load(sys.stdin)
    with Path(given["out"]).open("wb") as out:
        out.writelines(FORMS[given["form"]](CallTree.open(Path(given["tree"])), given["asked"]))
    return 0

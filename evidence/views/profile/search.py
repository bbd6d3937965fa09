"""Search a profile: how much of it passes a frame whose name matches, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.http.response import HttpResponseBase

from evidence.profile.searching import BadPattern, matcher
from evidence.views import answering
from evidence.views.answering import Unasked
from incidents.views.signed_in import Request, signed_in

if TYPE_CHECKING:
    from evidence.tree.calltree import CallTree

HIGHLIGHTED = 20_000  # functions at most that a page is told to highlight; the shares count all of them


@signed_in
def search(request: Request, codename: str, n: int) -> HttpResponseBase:
    """Return the exact share that passes what ``q`` matches, of all and of what is zoomed (``root``)."""
    return answering.answered(request, codename, n, _search)


def _search(tree: CallTree, request: Request) -> dict[str, Any]:
    import numpy as np

    type, root = answering.type_of(request, tree), answering.node_of(request, tree)
    try:
        matches = matcher(request.GET.get("q", "").strip())
    except BadPattern as error:
        raise Unasked(str(error)) from None
    found = tree.search(matches, type=type)
    zoomed = _within(tree, found.codes.tolist(), root, type) if root else found
    most = found.codes
    if len(most) > HIGHLIGHTED:
        most = np.sort(most[np.argsort(-tree.function_totals[type, most])[:HIGHLIGHTED]])
    return {
        "total": found.total,
        "share": found.share,
        "functions": len(found.codes),
        "root": root,
        "zoomed_total": zoomed.total,
        "zoomed_share": zoomed.share,
        "codes": np.diff(most, prepend=0).tolist(),
    }


def _within(tree: CallTree, codes: list[int], root: int, type: int) -> Any:
    """Search again under one node, for the names that are known to match."""
    names = {tree.names[code] for code in codes}
    return tree.search(names.__contains__, root=root, type=type)

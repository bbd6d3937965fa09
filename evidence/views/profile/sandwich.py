"""One function from both sides: who calls it, and what it calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.http.response import HttpResponseBase

from evidence.views import answering
from incidents.views.signed_in import Request, signed_in

if TYPE_CHECKING:
    from evidence.tree.calltree import CallTree

SIDES = ("callers", "callees")


@signed_in
def sandwich(request: Request, codename: str, n: int) -> HttpResponseBase:
    """Return the callers or the callees of function ``code`` (``side``), as boxes under ``root``."""
    return answering.answered(request, codename, n, _sandwich)


def _sandwich(tree: CallTree, request: Request) -> dict[str, Any]:
    from evidence.analysis import functions
    from evidence.drawing import flamegraph

    code, type = answering.code_of(request, tree), answering.type_of(request, tree)
    side = request.GET.get("side", "callees")
    if side not in SIDES:
        raise answering.Unasked("The side must be callers or callees.")
    half = tree.callers(code) if side == "callers" else tree.callees(code)
    root = answering.node_of(request, half) or min(1, len(half) - 1)
    drawn = flamegraph.payload(half, type=type, root=root, budget=answering.budget_of(request))
    passes, ends = functions.everywhere(tree, code, type=type)
    return drawn | {
        "path": drawn["path"][1:],  # without the root, which repeats the function
        "side": side,
        "function": tree.names[code],
        "total": tree.total(type),
        "function_total": passes,
        "function_self": ends,
    }

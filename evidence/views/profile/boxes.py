"""The boxes of a flame graph under one node, for its page to draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.http.response import HttpResponseBase

from evidence.views import answering
from incidents.views.signed_in import Request, signed_in

if TYPE_CHECKING:
    from evidence.tree.calltree import CallTree


@signed_in
def boxes(request: Request, codename: str, n: int) -> HttpResponseBase:
    """Return the widest boxes under ``root``, for sample type ``type``; ``idle=0`` leaves out idle stacks."""
    return answering.answered(request, codename, n, _boxes)


def _boxes(tree: CallTree, request: Request) -> dict[str, Any]:
    from evidence.drawing import flamegraph

    root = answering.node_of(request, tree)
    return flamegraph.payload(
        tree, type=answering.type_of(request, tree), root=root, budget=answering.budget_of(request)
    )

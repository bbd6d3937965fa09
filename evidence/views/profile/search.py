"""Search a profile: how much of it passes through a frame whose name matches, exactly."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.http.response import HttpResponseBase

from evidence.intake import made
from evidence.profile.searching import BadPattern, matcher
from evidence.views import answering
from evidence.views.answering import Unasked
from evidence.views.finding import profile_of
from incidents.views.signed_in import Request, signed_in

if TYPE_CHECKING:
    from evidence.tree.calltree import CallTree


@signed_in
def search(request: Request, codename: str, n: int) -> HttpResponseBase:
    """Return the exact share that passes through what ``q`` matches, of the whole and of the zoomed node (``root``)."""
    evidence = profile_of(request, codename, n)
    return answering.told(request, evidence, lambda tree, request: _search(tree, request, evidence.tree))


def _search(tree: CallTree, request: Request, key: str) -> dict[str, Any]:
    q = request.GET.get("q", "").strip()
    try:
        matcher(q)
    except BadPattern as error:
        raise Unasked(str(error)) from None
    asked = {"type": answering.type_of(request, tree), "root": answering.node_of(request, tree), "q": q}
    with made.of(key, "search", **asked, idle=request.GET.get("idle") != "0") as file:
        said: dict[str, Any] = json.load(file)
    return said

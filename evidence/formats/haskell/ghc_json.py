"""GHC's profile as JSON (``+RTS -pj``): cost centres, and a tree of their stacks with ticks and bytes.

Source: GHC, ``rts/ProfilerReportJson.c``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evidence.formats import Buffer
from evidence.formats.base.json_text import fields, outline
from evidence.formats.base.json_text.fields import listed, mapped, scaled, whole
from evidence.formats.haskell import cost_centres
from evidence.formats.haskell.cost_centres import MICROSECOND, CostCentre
from evidence.profile.claims import Certainty, Claim
from evidence.profile.errors import BadProfile
from evidence.profile.limits import DEFAULT, Limits
from evidence.profile.source_functions import SourceFunction
from evidence.profile.stacks import Stacks

NAME = "ghc json"


def claim(head: bytes) -> Claim | None:
    """Recognise the totals that precede the cost centres."""
    if outline.of(head).has("total_ticks", "tick_interval", "cost_centres"):
        return Claim(Certainty.SURE, "it has ticks and cost centres, as GHC writes them")
    return None


def read(data: Buffer, *, limits: Limits = DEFAULT) -> Stacks:
    """Read the time and the bytes of each stack of cost centres. Raises ``BadProfile`` naming the node; ``TooMuch``."""
    file = mapped(fields.parse(data, limits=limits), "the file")
    tick_ns = scaled(file.get("tick_interval"), "tick_interval", times=MICROSECOND)
    places = _places(file)
    nodes: list[CostCentre] = []
    waiting = [(mapped(file.get("profile"), "profile"), -1)]
    while waiting:
        node, above = waiting.pop()
        where = f"node {len(nodes) + 1}"
        key = whole(node.get("id"), f"{where}, id")
        if key not in places:
            raise BadProfile(f"Cost centre {key} does not exist", where=where)
        ticks, alloc = (whole(node.get(name, 0), f"{where}, {name}") for name in ("ticks", "alloc"))
        nodes.append(CostCentre(places[key], above, ticks * tick_ns, alloc))
        children = listed(node.get("children", []), f"{where}, children")
        waiting += [(mapped(child, f"{where}, a child"), len(nodes) - 1) for child in children]
    about = {"command": str(file.get("program") or "")[:300]}
    return cost_centres.gathered(nodes, limits=limits).stacks(NAME, about=about)


def _places(file: Mapping[str, Any]) -> dict[int, SourceFunction]:
    found = {}
    for at, centre in enumerate(listed(file.get("cost_centres"), "cost_centres")):
        one = mapped(centre, f"cost_centres[{at}]")
        label, module, source = (str(one.get(name) or "") for name in ("label", "module", "src_loc"))
        found[whole(one.get("id"), f"cost_centres[{at}], id")] = cost_centres.place(label, module, source)
    return found

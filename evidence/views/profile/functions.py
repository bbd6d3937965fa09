"""The table of functions: what the flame graph shows, in words and numbers, readable without scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse

from evidence.models import Evidence
from evidence.profile.searching import BadPattern, matcher
from evidence.views.finding import profile_of, tree_of
from incidents.forms.given import number
from incidents.views.signed_in import Request, signed_in

if TYPE_CHECKING:
    from evidence.tree.calltree import CallTree

HEADS = (("name", "Function"), ("self", "Self"), ("total", "Total"))


@signed_in
def functions(request: Request, codename: str, n: int) -> HttpResponseBase:
    """Show the functions of a profile; as a fragment, only the table."""
    evidence = profile_of(request, codename, n)
    tree = tree_of(evidence)
    context = {"incident": evidence.incident, "evidence": evidence} | shown(request, evidence, tree)
    name = "evidence/_functions.html" if request.htmx else "evidence/functions.html"
    return render(request, name, context)


def shown(request: Request, evidence: Evidence, tree: CallTree) -> dict[str, Any]:
    """Return what the table's template needs: the requested rows, and the links to others."""
    from evidence.analysis import functions as tabled
    from evidence.analysis import guards

    type = chosen(request, tree)
    sort = request.GET.get("sort", "")
    asked = {
        "type": str(type) if type != tree.default_type else "",
        "fn": " ".join(request.GET.get("fn", "").split()),
        "sort": sort if sort in tabled.SORTS and sort != "total" else "",
    }
    wrong, matches = "", None
    try:
        matches = matcher(asked["fn"]) if asked["fn"] else None
    except BadPattern as error:
        wrong = str(error)
    page = number(request.GET.get("page")) or 1
    made = tabled.table(tree, type=type, sort=asked["sort"] or "total", page=page, matches=matches)
    here = reverse("evidence-functions", args=[evidence.incident.codename, evidence.n])
    return {
        "table": made,
        "rows": made.rows,
        "kind": tree.sample_types[type],
        "is_rough": guards.is_rough(tree, type),
        "asked": asked,
        "wrong": wrong,
        "table_at": here,
        "heads": [(label, _to(here, asked, sort=key), (asked["sort"] or "total") == key, key) for key, label in HEADS],
        "before": _to(here, asked, page=str(made.page - 1)) if made.page > 1 else "",
        "after": _to(here, asked, page=str(made.page + 1)) if made.page < made.pages else "",
    }


def chosen(request: Request, tree: CallTree) -> int:
    """Return the sample type that the URL names, else the profile's own."""
    type = number(request.GET.get("type"))
    return type if type is not None and type < len(tree.sample_types) else tree.default_type


def _to(here: str, asked: dict[str, str], **changes: str) -> str:
    pairs = {name: value for name, value in (asked | changes).items() if value}
    return f"{here}?{urlencode(pairs)}#functions" if pairs else f"{here}#functions"

"""Two or more profiles side by side: what moved, as one graph and as a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from django.db.models.functions import Coalesce
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse

from evidence.models import Evidence
from evidence.profile.searching import BadPattern, matcher
from evidence.views import answering, choosing, measures
from evidence.views.profile import moved_rows, said
from evidence.views.profile.compared import Sides, listed, sides_of
from incidents.forms.given import number, numbers
from incidents.views.signed_in import Request, incident_or_404, signed_in

ROWS = 25
LEAST = 0.0005  # of the total: what moved by less gets no row
SCALES = (
    ("Shares", "Each side as shares of its own total", False),
    ("Absolute", "Amounts as counted, whatever the totals are", True),
)


@signed_in
def page(request: Request, codename: str) -> HttpResponseBase:
    """Show the difference of two profiles, or of several against one control; other measurements side by side.

    Without a selection it asks what to compare. For ``of`` one ``with`` another, the older one is *before*.
    """
    from evidence.analysis import compare

    if "of" in request.GET:
        return _by_age(request, codename)
    if "control" not in request.GET:
        return choosing.page(request, codename)
    if says := _cannot(request, codename):
        return choosing.page(request, codename, says=says)
    if measured := measures.asked(request, codename):
        return measures.compare(request, measured)
    sides = sides_of(request, codename)
    context: dict[str, Any] = {
        "here": "incidents",
        "graph_keys": True,
        "incident": sides.incident,
        "policy": sides.incident.policy,
        "sides": sides,
    }
    context |= {"control": sides.control, "other": sides.other, "several": len(sides.profiles) > 2}
    context["swapped"] = _to(sides, control=sides.other.n, others=[sides.control.n])
    try:
        context |= _moved(request, sides)
    except compare.NotComparable as error:
        return render(request, "evidence/compare.html", context | {"refused": str(error)}, status=409)
    return render(request, "evidence/compare.html", context)


def _cannot(request: Request, codename: str) -> str:
    """Say why the requested comparison cannot be shown, and what to do; empty if it may be possible."""
    if set(listed(request)) <= {request.GET["control"]}:
        return "Choose something other than what it is compared with."
    return choosing.not_there(request, codename, numbers([request.GET["control"], *listed(request)]))


def _by_age(request: Request, codename: str) -> HttpResponseBase:
    """Redirect to the comparison of the named evidence, the one measured first as the control."""
    incident = incident_or_404(request.person, codename)
    named = Evidence.objects.filter(incident=incident, n__in=numbers([request.GET["of"], *listed(request)]))
    first, *others = named.order_by(Coalesce("window_from", "added_at"), "n").values_list("n", flat=True) or [0]
    asked = urlencode({"control": first, "with": ",".join(map(str, others))}, safe=",")
    return redirect(f"{reverse('evidence-compare', args=[codename])}?{asked}")


@signed_in
def boxes(request: Request, codename: str) -> HttpResponseBase:
    """Return the boxes of the difference under ``root``: ``width`` both, before or after; ``absolute=1``."""
    from evidence.drawing import differential

    def answer(sides: Sides) -> dict[str, Any]:
        width = request.GET.get("width", "both")
        if width not in differential.WIDTHS:
            raise answering.Unasked("Width must be both, before or after.")
        root = answering.node_of(request, sides.merged)
        budget = answering.budget_of(request) if "most" in request.GET else differential.BUDGET
        return differential.payload(
            sides.merged, after=sides.shown, width=width, absolute=sides.absolute, root=root, budget=budget
        )

    return _answered(request, codename, answer)


@signed_in
def search(request: Request, codename: str) -> HttpResponseBase:
    """Return the exact share that passes through what ``q`` matches, on both sides."""

    def answer(sides: Sides) -> dict[str, Any]:
        import numpy as np

        try:
            matches = matcher(request.GET.get("q", "").strip())
        except BadPattern as error:
            raise answering.Unasked(str(error)) from None
        merged, root = sides.merged, answering.node_of(request, sides.merged)
        before = merged.search(matches, root=root)
        names = {merged.names[code] for code in before.codes.tolist()}
        after = merged.search(names.__contains__, root=root, type=sides.shown)
        shares = [found.total / (merged.total(type) or 1) for found, type in ((before, 0), (after, sides.shown))]
        return {
            "totals": [before.total, after.total],
            "shares": shares,
            "functions": len(before.codes),
            "codes": np.diff(before.codes, prepend=0).tolist(),
        }

    return _answered(request, codename, answer)


def _answered(request: Request, codename: str, answer: Any) -> HttpResponseBase:
    from evidence.analysis import compare

    sides = sides_of(request, codename)
    tag = answering.tag_of(request, *(one.tree for one in sides.profiles))
    if request.headers.get("If-None-Match", "").removeprefix("W/") == tag:
        return answering.marked(answering.as_json({}, status=304), tag, private=sides.incident.private)
    try:
        answered = answer(sides)
    except (answering.Unasked, compare.NotComparable) as error:
        return answering.as_json({"says": str(error)}, status=400)
    return answering.marked(answering.as_json(answered), tag, private=sides.incident.private)


def _moved(request: Request, sides: Sides) -> dict[str, Any]:
    """Return the sentence, the table of functions that moved, and the settings of the graph."""
    from evidence.analysis import compare, guards, pair_guards
    from evidence.analysis.scales import ComparisonScale
    from evidence.drawing import flamegraph

    merged = sides.merged
    is_rough = any(guards.is_rough(sides.trees[at], sides.types[at]) for at in (0, sides.shown))
    told = [said.of(sides.profiles[at], sides.trees[at], type=sides.types[at]) for at in (0, sides.shown)]
    scale = ComparisonScale(sides.absolute, merged.sample_types[0].unit, is_rough)
    found = compare.moved(merged, after=sides.shown, least=LEAST, scale=scale, own=True)
    words = " ".join(request.GET.get("fn", "").split())
    wrong = ""
    try:
        matches = matcher(words) if words else None
    except BadPattern as error:
        wrong, matches = str(error), None
    rows = [one for one in found if matches is None or matches(one.name)]
    pages = max(1, -(-len(rows) // ROWS))
    page = min(max(1, number(request.GET.get("page")) or 1), pages)
    shown = rows[(page - 1) * ROWS : page * ROWS]
    query = {"control": str(sides.control.n), "with": ",".join(str(one.n) for one in sides.profiles[1:])}
    query |= {"on": str(sides.other.n), "sample": sides.type, "absolute": "1" if sides.absolute else ""}
    asked = urlencode({name: value for name, value in query.items() if value}, safe=",")
    return {
        "sentence": compare.says(merged, after=sides.shown, scale=scale),
        "guards": [
            *pair_guards.totals(merged, after=sides.shown, absolute=sides.absolute),
            *(_recorded(sides) if sides.absolute else ()),
            *pair_guards.of_sides(*(warned for _, warned in told)),
        ],
        "is_rough": is_rough,
        "unit": scale.unit,
        "least": scale.least(LEAST),
        "sample": sides.types[0],
        "samples": compare.choices(sides.trees),
        "totals": (merged.total(0), merged.total(sides.shown)),
        "rows": [moved_rows.row(merged, one, shown=sides.shown, scale=scale) for one in shown],
        "all": moved_rows.whole(merged, shown=sides.shown, scale=scale),
        "found": len(rows),
        "page": page,
        "pages": pages,
        "words": words,
        "wrong": wrong,
        "asked": query,
        "asked_query": asked,
        "doors": {
            "boxes": f"{reverse('evidence-compare-boxes', args=[sides.incident.codename])}?{asked}",
            "search": f"{reverse('evidence-compare-search', args=[sides.incident.codename])}?{asked}",
        },
        "palette": flamegraph.palette(),
        "scales": [
            (word, title, _to(sides, absolute=absolute), absolute == sides.absolute) for word, title, absolute in SCALES
        ],
        "tabs": [(one, _to(sides, on=one.n), one is sides.other) for one in sides.profiles[1:]],
    }


def _recorded(sides: Sides) -> Iterator[str]:
    from evidence.analysis import pair_guards

    trees, types, shown = sides.trees, sides.types, sides.shown
    return pair_guards.recorded(trees[0], trees[shown], types=(types[0], types[shown]))


def _to(
    sides: Sides, *, control: int = 0, others: list[int] | None = None, on: int = 0, absolute: bool | None = None
) -> str:
    """Return the URL of a comparison with something changed; its scale stays unless it is given."""
    with_ = others or [one.n for one in sides.profiles[1:]]
    query = {"control": control or sides.control.n, "with": ",".join(map(str, with_)), "on": on, "sample": sides.type}
    query["absolute"] = int(sides.absolute if absolute is None else absolute)
    asked = urlencode({name: value for name, value in query.items() if value}, safe=",")
    return f"{reverse('evidence-compare', args=[sides.incident.codename])}?{asked}"

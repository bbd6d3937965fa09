"""The page of one profile: the sentence, the flame graph, the functions, where it came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse

from evidence.analysis import parts
from evidence.models import Evidence
from evidence.models.evidence import Kind, State
from evidence.profile import fractions
from evidence.related import alike
from evidence.views.finding import profile_of, tree_of
from evidence.views.profile import functions, said
from incidents.views.signed_in import Request, signed_in

if TYPE_CHECKING:
    from evidence.tree.calltree import CallTree

FORMATS = {
    "folded": "folded stacks",
    "perf script": "perf script",
    "pprof": "pprof",
    "speedscope": "speedscope",
    "chrome": "Chrome trace",
    "v8": "V8 CPU profile",
    "otlp": "OTLP profile",
    "jfr": "Java Flight Recorder",
}
DOORS = ("boxes", "search", "function")


@signed_in
def profile(request: Request, codename: str, n: int) -> HttpResponseBase:
    """Show a profile that was read."""
    return page(request, profile_of(request, codename, n))


def page(request: Request, evidence: Evidence) -> HttpResponseBase:
    """Show a profile; without scripts its table and its picture."""
    tree = tree_of(evidence)
    type = functions.chosen(request, tree)
    sentence, guards = said.of(evidence, tree, type=type)
    context = {
        "here": "incidents",
        "graph_keys": True,
        "incident": evidence.incident,
        "policy": evidence.incident.policy,
        "evidence": evidence,
        "format": FORMATS.get(tree.format, tree.format),
        "type": type,
        "types": _types(tree),
        "total": tree.total(type),
        "doors": {door: reverse(f"evidence-{door}", args=[evidence.incident.codename, evidence.n]) for door in DOORS},
        "others": _others(evidence),
        "may_withdraw": evidence.is_withdrawable_by(request.person),
        "sentence": sentence,
        "guards": guards,
        **_drawn(tree),
        "parts": parts.of(tree, type=type),
        **functions.shown(request, evidence, tree),
    }
    return render(request, "evidence/profile.html", context)


def _types(tree: CallTree) -> list[dict[str, Any]]:
    return [
        {"place": place, "name": one.name, "unit": one.unit, "total": tree.total(place)}
        for place, one in enumerate(tree.sample_types)
    ]


def _drawn(tree: CallTree) -> dict[str, Any]:
    from evidence.analysis import idleness
    from evidence.drawing import flamegraph

    about = tree.about
    return {
        "palette": flamegraph.palette(),
        "has_idle": idleness.has_idle(tree),
        "skipped": int(about.get("skipped", 0)),
        "skipped_at": list(about.get("skipped_at", []))[:5],
        "comments": [str(one) for one in about.get("comments", [])][:5],
        "command": str(about.get("command", "")),
    }


def _others(evidence: Evidence) -> list[Evidence]:
    """Return the incident's other profiles with the same unit, to compare with.

    The newest with a hot function in common comes first, then those from the same source.
    """
    found = Evidence.objects.filter(incident=evidence.incident_id, kind=Kind.PROFILE, state=State.READY)
    mine = _units(evidence)
    others = [one for one in found.exclude(pk=evidence.pk).order_by("-n")[:20] if mine & _units(one)]
    first = alike.newest_akin(evidence.pk, others[::-1])
    return sorted(others, key=lambda one: (one not in first, one.origin.get("source") != evidence.origin.get("source")))


def _units(evidence: Evidence) -> set[tuple[str, str]]:
    return {(one["name"], fractions.whole(str(one["unit"]))[1]) for one in evidence.summary.get("sample_types", [])}

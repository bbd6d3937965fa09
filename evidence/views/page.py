"""The page of one piece of evidence: each kind has its own, and files that were only kept have a plain one."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from evidence.intake import hints, receiving
from evidence.intake.storage import StorageError
from evidence.models import Evidence
from evidence.models.evidence import Kind, State
from evidence.views.finding import evidence_of
from incidents.outages import outage_answer
from incidents.views.signed_in import Request, signed_in

MEASURES = {Kind.BENCHMARK, Kind.LOAD, Kind.COUNTS, Kind.SWEEP}


@signed_in
def page(request: Request, codename: str, n: int) -> HttpResponseBase:
    """Show evidence ``n``: a flame graph, a table, or what is known of a file that was only kept."""
    evidence = evidence_of(request, codename, n)
    if evidence.state == State.READY and evidence.kind == Kind.PROFILE:
        from evidence.views.profile import profile

        try:
            return profile.page(request, evidence)
        except StorageError as error:
            if not receiving.is_lost(evidence):
                raise
            return _plain(request, evidence, lost=error.says)
    if evidence.state == State.READY and evidence.kind in MEASURES:
        from evidence.views import measures

        return measures.page(request, evidence)
    return _plain(request, evidence)


def _plain(request: Request, evidence: Evidence, *, lost: str = "") -> HttpResponse:
    context: dict[str, Any] = {"incident": evidence.incident, "one": evidence, "policy": evidence.incident.policy}
    context["lost"] = lost
    context["unread_since"] = hints.unread_since() if evidence.state == State.READING else None
    context["may_withdraw"] = evidence.is_withdrawable_by(request.person)
    name = "evidence/plain.html#state" if request.htmx else "evidence/plain.html"
    answer = render(request, name, context, status=503 if lost else 200)
    return outage_answer.unlogged(answer) if lost else answer

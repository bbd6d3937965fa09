"""Hypotheses about an incident: what was claimed, what was ruled out, and what it turned out to be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from evidence.findings import findings
from evidence.findings.finding_forms import ClaimForm, JudgeForm
from evidence.models import Evidence, Finding
from evidence.models.evidence import State
from evidence.views.finding import evidence_of
from incidents.models import Incident
from incidents.views import panels
from incidents.views.panels import Panel, PanelState
from incidents.views.signed_in import Request, incident_or_404, signed_in

UNPROCESSABLE = 422
CHOICES = 60  # how much of the newest evidence to pick from


@require_http_methods(["GET", "POST"])
@signed_in
def listing(request: Request, codename: str) -> HttpResponse:
    """Show every finding with its rounds, and accept a new hypothesis."""
    incident = incident_or_404(request.person, codename)
    form = ClaimForm(request.POST if request.method == "POST" else None, label_suffix="")
    if form.is_bound:
        finding = form.done(incident, by=request.person, at=timezone.now())
        if finding is not None:
            messages.success(request, "Hypothesis added. Add a verdict once you have evidence.")
            return redirect("finding", codename=incident.codename, n=finding.n)
    context = _about(incident) | {"findings": findings.of(incident), "form": form}
    return render(request, "evidence/findings.html", context, status=UNPROCESSABLE if form.errors else 200)


def _read(_request: Request, incident: Incident, found: Sequence[Finding]) -> PanelState:
    """Show what is known so far on the incident's page: the root cause first, the refuted last."""
    return PanelState("", _about(incident) | {"findings": found})


panels.register("findings", Panel(_read, {"findings": "evidence/_strip.html"}, findings.of))


@signed_in
def about(request: Request, codename: str, n: int) -> HttpResponse:
    """Show which findings rest on a piece of evidence, for its page."""
    evidence = evidence_of(request, codename, n)
    context = _about(evidence.incident) | {"supports": findings.resting_on(evidence)}
    return render(request, "evidence/_resting.html", context)


@require_http_methods(["GET", "POST"])
@signed_in
def judge(request: Request, codename: str, n: int) -> HttpResponse:
    """Show one finding with its rounds, and accept another round."""
    incident = incident_or_404(request.person, codename)
    finding = next((one for one in findings.of(incident) if one.n == n), None)
    if finding is None:
        raise Http404("No such finding.")
    finding.incident = incident
    shown = Evidence.objects.filter(incident=incident).exclude(state=State.WITHDRAWN).order_by("-n")[:CHOICES]
    form = JudgeForm(request.POST if request.method == "POST" else None, finding=finding, evidence=list(shown))
    if form.is_bound and form.done(by=request.person, at=timezone.now()):
        messages.success(request, f"Saved round {Finding.objects.get(pk=finding.pk).rounds.count()}.")
        return redirect("findings", codename=incident.codename)
    context = _about(incident) | {"finding": _fresh(incident, finding), "form": form}
    return render(request, "evidence/finding.html", context, status=UNPROCESSABLE if form.errors else 200)


def _fresh(incident: Incident, finding: Finding) -> Finding:
    """Return a finding as it is now: a verdict may have been added while the form was open."""
    return next(one for one in findings.of(incident) if one.pk == finding.pk)


def _about(incident: Incident) -> dict[str, Any]:
    return {"incident": incident, "policy": incident.policy}

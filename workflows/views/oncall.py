"""Who is on call now and next, as the pager last said."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from incidents.views.signed_in import Request, signed_in
from workflows.views.members import member_or_404


@require_GET
@signed_in
def now(request: Request) -> HttpResponse:
    """Show who is on call, per escalation policy and schedule."""
    member_or_404(request.person)
    return render(request, "workflows/oncall.html", {"here": "oncall", "tab": "who"})


@require_GET
@signed_in
def people(request: Request) -> HttpResponse:
    """Show whom of the pager we know."""
    member_or_404(request.person)
    return render(request, "workflows/oncall_people.html", {"here": "oncall", "tab": "people"})

"""Who is on call now and next, as the pager last said."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from incidents.views.signed_in import Request, signed_in
from workflows.models import PagerTarget
from workflows.oncall import freshness, roster
from workflows.views.oncall.members import member_or_404

TITLES = {PagerTarget.Kind.POLICY: "Escalation policies", PagerTarget.Kind.SCHEDULE: "Schedules"}


@require_GET
@signed_in
def now(request: Request) -> HttpResponse:
    """Show who is on call, per escalation policy and schedule; the page asks again as long as it is open."""
    member_or_404(request.person)
    at = timezone.now()
    fresh = freshness.of(at=at)
    entries = roster.whole(at=at) if fresh.is_known else []
    context = {
        "here": "oncall",
        "tab": "who",
        "fresh": fresh,
        "said": fresh.words(at=at),
        "sections": [(title, [one for one in entries if one.target.kind == kind]) for kind, title in TITLES.items()],
        "any": bool(entries),
    }
    return render(request, "workflows/oncall.html" + ("#now" if request.htmx else ""), context)

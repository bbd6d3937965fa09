"""What a private incident tells everyone: its published summary, and nothing else."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from incidents.models import Summary
from incidents.views.signed_in import Request, signed_in


@require_GET
@signed_in
def summary(request: Request, codename: str) -> HttpResponse:
    """Show a published summary to every member. Guests see only what they take part in."""
    published = Summary.objects.filter(codename=codename, published_at__isnull=False).order_by("-pk")
    newest = published.first() if codename and request.person.can_join else None
    if newest is None:
        raise Http404("No such summary.")
    first = published.last() or newest
    return render(request, "incidents/summary.html", {"summary": newest, "first_at": first.published_at})

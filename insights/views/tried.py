"""What an edited type would have done in past incidents, requested while it is being edited."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from incidents.forms import TypeForm
from incidents.views.allowed import needs
from incidents.views.signed_in import Request, signed_in
from incidents.views.types import find
from insights.trying import trying

MOST = 500  # incidents, because someone is waiting


@require_http_methods(["GET", "POST"])
@signed_in
@needs("types")
def tried(request: Request, slug: str) -> HttpResponse:
    """Show it for the incidents that this person may see; nothing is changed."""
    type = find(slug)
    form = TypeForm(request.POST or None, policy=type.policy)
    if request.method != "POST" or not form.is_valid():
        return redirect("type", slug=slug)
    policy = form.policy()
    found = trying.over([policy], actor=request.person, at=timezone.now(), most=MOST)
    given = [(name, request.POST[name]) for name in [*form.fields, "version"] if name in request.POST]
    context = {"here": "types", "type": type, "policy": policy, "found": found, "given": given}
    return render(request, "insights/tried.html", context)

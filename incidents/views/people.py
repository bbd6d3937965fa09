"""People to pick from, as a fragment of a form."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render

from incidents.forms.given import numbers
from incidents.forms.people import joinable, suggested
from incidents.views.signed_in import Request, signed_in


@signed_in
def people(request: Request) -> HttpResponse:
    """Return people whose name matches ``q``, the ones already picked first."""
    field = "lead" if request.GET.get("as") == "lead" else "people"
    picked = list(joinable(by=request.person).filter(pk__in=numbers(request.GET.getlist(field))))
    found = suggested(request.GET.get("q", ""), by=request.person, without=picked)
    options = [(one, True) for one in picked] + [(one, False) for one in found]
    asked = {name: request.GET.get(name) == "1" for name in ("several", "must")}
    return render(request, "incidents/_people.html", {"options": options, "field": field} | asked)

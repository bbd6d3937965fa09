"""The pages of incident types."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render

from incidents.views.signed_in import Request, signed_in


@signed_in
def listing(request: Request) -> HttpResponse:
    return render(request, "types/list.html")


add = edit = version = act = listing

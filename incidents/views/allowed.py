"""Pages that only one role may use: everyone else is told who may."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Final

from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from incidents.people import roles
from incidents.views.signed_in import P, Request, View

FORBIDDEN: Final = 403
PAGES: Final = {"types": "types", "rules": "oncall", "groups": "oncall", "match": "oncall", "audit": "audit"}


def needs(what: str) -> Callable[[View[P]], View[P]]:
    """Let a view answer only those who may do something in `roles.ACTS`; place it below ``signed_in``.

    None of these pages is about an incident, so a refusal reveals nothing. To guests the pages do not exist.
    """

    def guarded(view: View[P]) -> View[P]:
        @wraps(view)
        def asked(request: Request, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            refusal = refused(request, what)
            return view(request, *args, **kwargs) if refusal is None else refusal

        return asked

    return guarded


def refused(request: Request, what: str) -> HttpResponse | None:
    """Return the page that says who may do something; None for someone who may."""
    if not request.person.can_join:
        raise Http404("No such page.")
    if roles.may(request.person, what):
        return None
    context = {"here": PAGES.get(what, ""), "who_may": roles.who_may(what, reader=request.person)}
    return render(request, "not_yours.html", context, status=FORBIDDEN)

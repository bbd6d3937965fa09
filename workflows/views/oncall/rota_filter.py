"""What someone searches the on-call views for, as it is in the URL of both."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from urllib.parse import quote, urlencode

from django.http import HttpResponse
from django.urls import reverse
from django_htmx.http import push_url

from incidents.views.signed_in import Request
from workflows.oncall import in_use
from workflows.views.oncall import rota_search

FORM = "seek"  # the id of the field's form
CHARS = 80


@dataclass(frozen=True, slots=True)
class RotaFilter:
    """The words that a view is searched for; ``is_next`` says that it is the calendar of the following week."""

    view: str  # the name of its route
    q: str = ""
    is_next: bool = False

    @classmethod
    def read(cls, request: Request, *, view: str) -> RotaFilter:
        """Read it from a query string."""
        q = " ".join(request.GET.get("q", "").split())[:CHARS]
        return cls(view, q, view == "oncall-week" and request.GET.get("week") == "next")

    @property
    def path(self) -> str:
        """The URL path of the view, without the search."""
        return reverse(self.view)

    @property
    def here(self) -> str:
        """The URL of the view as it is."""
        given = {"week": "next" if self.is_next else "", "q": self.q}
        asked = urlencode({name: value for name, value in given.items() if value}, quote_via=quote)
        return f"{self.path}?{asked}" if asked else self.path

    @property
    def everything(self) -> str:
        """The URL of the view without a search."""
        return replace(self, q="").here

    def meant(self, names: Iterable[str]) -> RotaFilter | None:
        """Return the search for the closest name, if one is close."""
        near = rota_search.nearest(self.q, names)
        return replace(self, q=near) if near else None

    def is_narrowed(self) -> bool:
        """Return whether the account is so large that only part of it is read."""
        return in_use.is_narrowed(set[str]().union(*in_use.subjects()))

    def answer(self, response: HttpResponse, request: Request) -> HttpResponse:
        """Have a form that is sent while typing produce a URL without empty fields."""
        return push_url(response, self.here) if request.htmx.trigger == FORM else response

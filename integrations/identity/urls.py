from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path

from integrations.identity.views import sign_in


def late(module: str, name: str) -> Callable[..., HttpResponseBase]:
    """Return a view that is loaded with its first request: protocols and their cryptography take megabytes."""

    def view(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        loaded = import_module(f"integrations.identity.views.{module}")
        answer: HttpResponseBase = getattr(loaded, name)(request, **kwargs)
        return answer

    return view


# allauth looks for some of these by names of its own; none of its other pages is here.
urlpatterns: list[URLPattern] = [
    path("sign-in/", sign_in.SignIn.as_view(), name="sign-in"),
    path("sign-in/", sign_in.SignIn.as_view(), name="account_login"),
    path("sign-in/as/<int:pk>", sign_in.sign_in_as, name="sign-in-as"),
    path("sign-in/with/<slug:key>", late("providers", "begin"), name="sign-in-with"),
    path("sign-in/<slug:provider_id>/back", late("providers", "back"), name="sign-in-back"),
]

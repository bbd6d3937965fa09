"""People who sign in with only a password must set up a second factor before anything else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django_htmx.http import HttpResponseClientRedirect

PAGE: Final = "/account/second-factor"
WAYS: Final = (PAGE, "/account/app", "/account/key", "/account/codes", "/sign-in/", "/sign-out/")
WANTED: Final = "second_factor_wanted"  # in the session; its value is where someone was on their way to


class SecondFactor:
    """Lead those who still want one to the page that sets it up, whatever they ask for."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if WANTED in request.session and not request.path.startswith(WAYS):
            if is_wanted_of(request):
                return HttpResponseClientRedirect(PAGE) if "HX-Request" in request.headers else redirect(PAGE)
            request.session.pop(WANTED)
        return self._get_response(request)


def is_needed() -> bool:
    """Return whether local accounts need one here; in the sandbox people pick who they are."""
    return settings.FIREKIND.sign_in.second_factor and not settings.FIREKIND.sandbox_url


def want(request: HttpRequest, *, then: str) -> None:
    """Let someone who came in by a password alone get no further without one, and on to a page afterwards."""
    if is_needed():
        session: Any = request.session
        session[WANTED] = then


def is_wanted_of(request: HttpRequest) -> bool:
    """Return whether someone still has to set one up."""
    user: Any = request.user
    if WANTED not in request.session or not (is_needed() and user.is_authenticated):
        return False
    return not Authenticator.objects.filter(user=user).exists()


@receiver(user_logged_in)
def _anew(request: HttpRequest | None, **_: Any) -> None:
    """Forget what was wanted of an earlier way in: who comes by a provider has their factors there."""
    if request is not None:
        request.session.pop(WANTED, None)

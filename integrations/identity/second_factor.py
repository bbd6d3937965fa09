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
WANTED: Final = "second_factor_wanted"  # key in the session; its value is the page that the person was going to


class SecondFactor:
    """Redirect everyone who still has to set up a second factor to the page for it, whatever they request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if WANTED in request.session and not request.path.startswith(WAYS):
            if is_wanted_of(request):
                return HttpResponseClientRedirect(PAGE) if "HX-Request" in request.headers else redirect(PAGE)
            request.session.pop(WANTED)
        return self._get_response(request)


def is_needed() -> bool:
    """Return whether local accounts need a second factor. In the sandbox people pick who they are, so none does."""
    return settings.FIREKIND.sign_in.second_factor and not settings.FIREKIND.sandbox_url


def want(request: HttpRequest, *, then: str) -> None:
    """Require a person who signed in with only a password to set up a second factor, then send them on to a page."""
    if is_needed():
        session: Any = request.session
        session[WANTED] = then


def is_wanted_of(request: HttpRequest) -> bool:
    """Return whether someone still has to set up a second factor."""
    user: Any = request.user
    if WANTED not in request.session or not (is_needed() and user.is_authenticated):
        return False
    return not Authenticator.objects.filter(user=user).exists()


@receiver(user_logged_in)
def _forget_check(request: HttpRequest | None, **_: Any) -> None:
    """Forget an earlier sign-in's requirement: people who sign in through a provider have their factors there."""
    if request is not None:
        request.session.pop(WANTED, None)

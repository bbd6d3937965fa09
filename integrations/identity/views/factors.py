"""Second factors of our own accounts: allauth's views with our pages, for accounts that have a password."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from allauth.account.views import ReauthenticateView
from allauth.mfa.base.views import AuthenticateView
from allauth.mfa.base.views import ReauthenticateView as ReauthenticateCodeView
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.views import GenerateRecoveryCodesView, ViewRecoveryCodesView
from allauth.mfa.totp.views import ActivateTOTPView, DeactivateTOTPView
from allauth.mfa.webauthn.views import AddWebAuthnView, ReauthenticateWebAuthnView, RemoveWebAuthnView
from django.contrib.auth.models import User
from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse

from incidents.views.signed_in import Request, signed_in
from integrations.identity import browsers, second_factor
from integrations.identity.noted import note

View = Callable[..., HttpResponseBase]


def own(view: View) -> View:
    """Restrict a view to people who sign in with our password; others manage their factors at their provider."""

    def answered(request: Request, **kwargs: Any) -> HttpResponseBase:
        if not (isinstance(request.user, User) and request.user.has_usable_password()):
            raise Http404("No such page.")
        return view(request, **kwargs)

    return signed_in(answered)


def _options(data: dict[str, Any], name: str) -> str:
    """Return the options for a passkey request, as JSON for an attribute that our script reads."""
    return json.dumps(data[name], cls=DjangoJSONEncoder)


class Code(AuthenticateView):  # type: ignore[misc]  # allauth brings no types
    """The second step of signing in: asks for a code."""

    template_name = "identity/code.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        shown: dict[str, Any] = super().get_context_data(**kwargs)
        shown["options"] = _options(shown.pop("js_data"), "request_options")
        mine = set(Authenticator.objects.filter(user=self.stage.login.user).values_list("type", flat=True))
        return shown | {"has_key": "webauthn" in mine, "has_code": bool(mine - {"webauthn"}), "has_app": "totp" in mine}

    def form_valid(self, form: Any) -> HttpResponse:
        """Sign in, and remember this browser."""
        user: User = self.stage.login.user
        response: HttpResponse = super().form_valid(form)
        if self.request.user.is_authenticated:
            browsers.remember(response, user)
        return response


class Password(ReauthenticateView):  # type: ignore[misc]  # allauth brings no types
    """Confirm who you are with your password."""

    template_name = "identity/again.html"
    extra_context = {"asks": "password"}


class CodeAgain(ReauthenticateCodeView):  # type: ignore[misc]  # allauth brings no types
    """Confirm who you are with a code."""

    template_name = "identity/again.html"
    extra_context = {"asks": "code"}


class KeyAgain(ReauthenticateWebAuthnView):  # type: ignore[misc]  # allauth brings no types
    """Confirm who you are with a passkey."""

    template_name = "identity/again.html"
    extra_context = {"asks": "key"}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        shown: dict[str, Any] = super().get_context_data(**kwargs)
        return shown | {"asks": "key", "options": _options(shown["js_data"], "request_options")}


class Noted:
    """A change of factors that is saved together with its audit entry, or not at all."""

    noting: dict[str, str]

    def form_valid(self, form: Any) -> HttpResponse:
        """Make the change and record it."""
        changed: Any = super()
        asked: Any = self
        with transaction.atomic():
            response: HttpResponse = changed.form_valid(form)
            note("account", asked.request.user, **self.noting)
        return response


class AddApp(Noted, ActivateTOTPView):  # type: ignore[misc]  # allauth brings no types
    """Set up an authenticator app."""

    template_name = "identity/app.html"
    noting = {"added": "authenticator app"}


class Removed(Noted):
    """Removes a factor; a person with none left must set one up before they continue."""

    def form_valid(self, form: Any) -> HttpResponse:
        """Remove it and record that."""
        response = super().form_valid(form)
        asked: Any = self
        second_factor.want(asked.request, then=reverse("account"))
        return response


class RemoveApp(Removed, DeactivateTOTPView):  # type: ignore[misc]  # allauth brings no types
    """Remove an authenticator app."""

    template_name = "identity/app_remove.html"
    noting = {"removed": "authenticator app"}


class RemoveKey(Removed, RemoveWebAuthnView):  # type: ignore[misc]  # allauth brings no types
    """Remove a passkey."""

    template_name = "identity/key_remove.html"
    noting = {"removed": "passkey"}


class NewCodes(Noted, GenerateRecoveryCodesView):  # type: ignore[misc]  # allauth brings no types
    """Make new recovery codes."""

    template_name = "identity/codes_new.html"
    noting = {"added": "recovery codes"}


class AddKey(Noted, AddWebAuthnView):  # type: ignore[misc]  # allauth brings no types
    """Set up a passkey."""

    template_name = "identity/key.html"
    noting = {"added": "passkey"}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        shown: dict[str, Any] = super().get_context_data(**kwargs)
        return shown | {"options": _options(shown["js_data"], "creation_options")}


def _first(request: HttpRequest) -> HttpResponseBase:
    """Offer the available factors to set up; once one is set up, continue to the page the person was going to."""
    if second_factor.is_wanted_of(request):
        return render(request, "identity/second_factor.html", {"name": request.user.get_username()})
    session: Any = request.session
    return redirect(session.pop(second_factor.WANTED, "account"))


def code(request: HttpRequest) -> HttpResponseBase:
    """Ask for the second factor, on a page that browsers do not cache."""
    response: HttpResponseBase = _code(request)
    response.headers["Cache-Control"] = "no-store, private"
    return response


_code = Code.as_view()
password_again, code_again, key_again = own(Password.as_view()), own(CodeAgain.as_view()), own(KeyAgain.as_view())
app, app_remove = own(AddApp.as_view()), own(RemoveApp.as_view())
key, key_remove = own(AddKey.as_view()), own(RemoveKey.as_view())
codes = own(ViewRecoveryCodesView.as_view(template_name="identity/codes.html"))
first = own(_first)
codes_new = own(NewCodes.as_view())

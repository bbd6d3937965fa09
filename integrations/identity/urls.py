from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path

from integrations.identity import noted  # noqa: F401  # it listens to who comes and goes
from integrations.identity.views import account, sign_in


def late(module: str, name: str) -> Callable[..., HttpResponseBase]:
    """Return a view that is imported on its first request, because its cryptography takes megabytes of memory."""

    def view(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        loaded = import_module(f"integrations.identity.views.{module}")
        answer: HttpResponseBase = getattr(loaded, name)(request, **kwargs)
        return answer

    return view


# allauth looks up some of these by its own names; none of its other pages is included.
urlpatterns: list[URLPattern] = [
    path("sign-in/", sign_in.SignInPage.as_view(), name="sign-in"),
    path("sign-in/", sign_in.SignInPage.as_view(), name="account_login"),
    path("sign-in/as/<int:pk>", sign_in.sign_in_as, name="sign-in-as"),
    path("sign-in/with/<slug:key>", late("providers", "begin"), name="sign-in-with"),
    path("sign-in/<slug:provider_id>/back", late("providers", "back"), name="sign-in-back"),
    path("sign-in/code", late("factors", "code"), name="mfa_authenticate"),
    path("sign-in/again", late("factors", "password_again"), name="account_reauthenticate"),
    path("sign-in/again/code", late("factors", "code_again"), name="mfa_reauthenticate"),
    path("sign-in/again/key", late("factors", "key_again"), name="mfa_reauthenticate_webauthn"),
    path("account/", account.account, name="account"),
    path("account/", account.account, name="mfa_index"),
    path("account/", account.account, name="mfa_list_webauthn"),
    path("account/second-factor", late("factors", "first"), name="second-factor"),
    path("account/app", late("factors", "app"), name="mfa_activate_totp"),
    path("account/app/remove", late("factors", "app_remove"), name="mfa_deactivate_totp"),
    path("account/key", late("factors", "key"), name="mfa_add_webauthn"),
    path("account/key/<int:pk>/remove", late("factors", "key_remove"), name="mfa_remove_webauthn"),
    path("account/codes", late("factors", "codes"), name="mfa_view_recovery_codes"),
    path("account/codes/new", late("factors", "codes_new"), name="mfa_generate_recovery_codes"),
    path("account/sessions/<slug:ref>/end", account.end, name="session-end"),
    path("account/drills", account.drills, name="account-drills"),
    path("account/sessions/end", account.end_all, name="sessions-end"),
]

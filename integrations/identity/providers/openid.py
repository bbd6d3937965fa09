"""OpenID Connect through allauth, with stricter checks: the issuer, the nonce, and one subject in both answers."""

from __future__ import annotations

import secrets
import time
from typing import Any

import requests
from allauth.socialaccount.models import SocialApp, SocialLogin
from allauth.socialaccount.providers.base.constants import AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse

from integrations.identity.providers import claims
from integrations.identity.providers.provider import Provider

FRESH_S = 300.0
_read: dict[str, tuple[float, dict[str, Any]]] = {}  # each provider's discovery document, and until when it is fresh


class Exchange(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]  # allauth brings no types
    """What we ask a provider, and which of its answers we trust."""

    @property
    def openid_config(self) -> dict[str, Any]:
        """Return the provider's discovery document. Raises when it names another issuer."""
        issuer = str(self.get_provider().app.settings["server_url"])
        until, config = _read.get(issuer, (0.0, {}))
        if until < time.monotonic():
            config = super().openid_config
            if str(config.get("issuer", "")).rstrip("/") != issuer:
                raise OAuth2Error("The provider names a different issuer than the settings.")
            _read[issuer] = time.monotonic() + FRESH_S, config
        return config

    def get_callback_url(self, request: HttpRequest, app: Any) -> str:
        """Return the callback URL, always under the base URL of the settings, whichever host was requested."""
        return f"{settings.FIREKIND.base_url}{reverse('sign-in-back', args=[self.provider_id])}"

    def complete_login(self, request: HttpRequest, app: Any, token: Any, **kwargs: Any) -> SocialLogin:
        """Return the sign-in with its claims; none of the claims is stored."""
        if not kwargs["response"].get("id_token"):
            raise OAuth2Error("There is no ID token.")
        login: Any = super().complete_login(request, app, token, **kwargs)
        said = login.account.extra_data
        signed, asked = said["id_token"], said.get("userinfo") or {}
        if asked and asked.get("sub") != signed["sub"]:
            raise OAuth2Error("The two answers are about different people.")
        login.claims = claims.believed(signed, asked)
        login.nonce = signed.get("nonce", "")
        login.account.extra_data = {}
        return login


class OpenId(OpenIDConnectProvider):  # type: ignore[misc]  # allauth brings no types
    """A provider that uses `Exchange`, with a code challenge (PKCE)."""

    oauth2_adapter_class = Exchange
    pkce_enabled_default = True


def provider_of(key: str) -> Provider:
    """Return a provider from the settings. Raises Http404."""
    for one in settings.FIREKIND.sign_in.providers:
        if one.key == key:
            return one
    raise Http404("No such way to sign in.")


def described(one: Provider) -> dict[str, Any]:
    """Return a provider's discovery document. Raises the errors in `failures`."""
    config: dict[str, Any] = Exchange(HttpRequest(), one.key).openid_config
    return config


def app_of(one: Provider) -> SocialApp:
    """Return a provider in allauth's form; it is never stored."""
    return SocialApp(
        provider=OpenId.id,
        provider_id=one.key,
        name=one.name,
        client_id=one.client_id,
        secret=one.client_secret,
        settings={"server_url": one.issuer},
    )


def begin(request: HttpRequest, one: Provider, *, back: str) -> str:
    """Return the URL at the provider to send a person to. Raises the errors in `failures`."""
    nonce = secrets.token_urlsafe(24)
    provider = OpenId(request, app=app_of(one))
    sent = provider.redirect(
        request, process=AuthProcess.LOGIN, next_url=back, data={"nonce": nonce}, auth_params={"nonce": nonce}
    )
    if "Location" not in sent:
        raise OAuth2Error("The provider gives no address.")
    return str(sent["Location"])


def finish(request: HttpRequest, one: Provider) -> HttpResponse:
    """Process a person's return from the provider; the adapters decide who they are."""
    view = OAuth2CallbackView.adapter_view(Exchange(request, one.key))
    answer: HttpResponse = view(request)
    return answer


# What can go wrong at a provider: it does not answer, answers nonsense, or refuses.
failures = (OAuth2Error, requests.RequestException, KeyError, ValueError)

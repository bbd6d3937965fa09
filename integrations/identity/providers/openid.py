"""OpenID Connect by allauth, with stricter checks: the issuer, the nonce, one subject in both answers."""

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
_read: dict[str, tuple[float, dict[str, Any]]] = {}  # what providers say about themselves, and until when it is fresh


class Exchange(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]  # allauth brings no types
    """What is asked of a provider, and what of its answers is believed."""

    @property
    def openid_config(self) -> dict[str, Any]:
        """Return what the provider says about itself; raise when it says it is another one."""
        issuer = str(self.get_provider().app.settings["server_url"])
        until, config = _read.get(issuer, (0.0, {}))
        if until < time.monotonic():
            config = super().openid_config
            if str(config.get("issuer", "")).rstrip("/") != issuer:
                raise OAuth2Error("The provider names a different issuer than the settings.")
            _read[issuer] = time.monotonic() + FRESH_S, config
        return config

    def get_callback_url(self, request: HttpRequest, app: Any) -> str:
        """Return where people are sent back to: under the address that the settings name, whatever was asked."""
        return f"{settings.FIREKIND.base_url}{reverse('sign-in-back', args=[self.provider_id])}"

    def complete_login(self, request: HttpRequest, app: Any, token: Any, **kwargs: Any) -> SocialLogin:
        """Return the sign-in with what was claimed; nothing of the claims is stored."""
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
    """A provider that is asked by an `Exchange`, with a code challenge (PKCE)."""

    oauth2_adapter_class = Exchange
    pkce_enabled_default = True


def provider_of(key: str) -> Provider:
    """Return a provider of the settings; raise Http404."""
    for one in settings.FIREKIND.sign_in.providers:
        if one.key == key:
            return one
    raise Http404("No such way to sign in.")


def described(one: Provider) -> dict[str, Any]:
    """Return what a provider says about itself. Raises what `failures` names."""
    config: dict[str, Any] = Exchange(HttpRequest(), one.key).openid_config
    return config


def app_of(one: Provider) -> SocialApp:
    """Return a provider as allauth wants it; it is never stored."""
    return SocialApp(
        provider=OpenId.id,
        provider_id=one.key,
        name=one.name,
        client_id=one.client_id,
        secret=one.client_secret,
        settings={"server_url": one.issuer},
    )


def begin(request: HttpRequest, one: Provider, *, back: str) -> str:
    """Return the address at the provider to send someone to. Raises what `failures` names."""
    nonce = secrets.token_urlsafe(24)
    provider = OpenId(request, app=app_of(one))
    sent = provider.redirect(
        request, process=AuthProcess.LOGIN, next_url=back, data={"nonce": nonce}, auth_params={"nonce": nonce}
    )
    if "Location" not in sent:
        raise OAuth2Error("The provider gives no address.")
    return str(sent["Location"])


def finish(request: HttpRequest, one: Provider) -> HttpResponse:
    """Take in what someone brings back from the provider; the adapters decide who they are."""
    view = OAuth2CallbackView.adapter_view(Exchange(request, one.key))
    answer: HttpResponse = view(request)
    return answer


# What a provider may do wrong: not answer, answer nonsense, refuse.
failures = (OAuth2Error, requests.RequestException, KeyError, ValueError)

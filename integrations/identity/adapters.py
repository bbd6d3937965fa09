"""The allauth adapters: our wording, pages and rules in place of allauth's."""

from __future__ import annotations

import secrets
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.utils.http import url_has_allowed_host_and_scheme
from requests import RequestException

SAID = {
    "mfa/messages/totp_activated.txt": "Your authenticator app is set up.",
    "mfa/messages/totp_deactivated.txt": "Your authenticator app was removed.",
    "mfa/messages/webauthn_added.txt": "Your passkey is set up.",
    "mfa/messages/webauthn_removed.txt": "That passkey was removed.",
    "mfa/messages/recovery_codes_generated.txt": "New recovery codes were created. Earlier ones no longer work.",
}

FORGED = "That sign-in was not started in this browser, or it took too long. Start again here."
DOWN = "Your sign-in provider is not responding. Try again in a moment."
CANCELLED = "You did not sign in there. Nothing has changed; you can start again."


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth brings no types
    """Accounts without self-service sign-up."""

    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "incorrect_password": "That password is not correct.",
        "too_many_login_attempts": "Too many attempts. Wait a few minutes, then try again.",
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Refuse: accounts come from providers and from the operator's terminal."""
        return False

    def is_safe_url(self, url: str) -> bool:
        """Return whether a URL is one of our own pages."""
        return url_has_allowed_host_and_scheme(url, allowed_hosts=None)

    def get_login_stages(self) -> list[str]:
        """Return the one login stage we use: the second factor, where one is set up."""
        return ["allauth.mfa.stages.AuthenticateStage"]

    def respond_user_inactive(self, request: HttpRequest, user: Any) -> HttpResponse:
        """Answer that the account has been deactivated."""
        from integrations.identity.views.sign_in import refused

        return refused(request, "This account has been deactivated.")

    def send_notification_mail(self, *args: Any, **kwargs: Any) -> None:
        """Send nothing: Firekind sends no email."""

    def add_message(
        self,
        request: HttpRequest,
        level: int,
        message_template: str | None = None,
        message_context: dict[str, Any] | None = None,
        extra_tags: str = "",
        message: str | None = None,
    ) -> None:
        """Show a message in our wording, or not at all."""
        words = message or SAID.get(message_template or "")
        if words:
            messages.add_message(request, level, words, extra_tags=extra_tags)


class Joining(DefaultSocialAccountAdapter):  # type: ignore[misc]  # allauth brings no types
    """Sign-in of a person who returns from a provider."""

    def list_apps(self, request: HttpRequest, provider: Any = None, client_id: Any = None) -> list[SocialApp]:
        """Return the providers from the settings; the database holds none."""
        from integrations.identity.providers import openid

        return [openid.app_of(one) for one in settings.FIREKIND.sign_in.providers if provider in (None, one.key)]

    def get_provider(self, request: HttpRequest, provider: Any, client_id: Any = None) -> Any:
        """Return a provider from the settings."""
        from integrations.identity.providers import openid

        return openid.OpenId(request, app=openid.app_of(openid.provider_of(provider)))

    def get_requests_session(self) -> Any:
        """Return the session for requests to providers, which limits how long a whole answer may take."""
        from integrations.identity.providers import asking

        return asking.TimedSession()

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        """Refuse: `pre_social_login` has already decided who may sign in."""
        return False

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        """Find or link the account that the provider vouches for, or show why there is none."""
        from integrations.identity import noted
        from integrations.identity.providers import joining, openid
        from integrations.identity.views.sign_in import refused

        nonce = (sociallogin.state.get("data") or {}).get("nonce", "")
        if not nonce or not secrets.compare_digest(nonce, str(sociallogin.nonce)):
            noted.note("sign-in-failed", None, why="forged", way=sociallogin.account.provider)
            raise ImmediateHttpResponse(refused(request, FORGED))
        try:
            joining.user_of(openid.provider_of(sociallogin.account.provider), sociallogin.claims)
        except joining.SignInRefused as no:
            noted.note("sign-in-failed", None, why="not known", way=sociallogin.account.provider)
            raise ImmediateHttpResponse(refused(request, str(no))) from None
        request.way_in = sociallogin.account.provider  # type: ignore[attr-defined]  # for the audit
        if not sociallogin.is_existing:
            sociallogin.lookup()

    def on_authentication_error(
        self, request: HttpRequest, provider: Any, error: Any = None, exception: Any = None, extra_context: Any = None
    ) -> None:
        """Explain the error on the sign-in page."""
        from integrations.identity import noted
        from integrations.identity.views.sign_in import refused

        if isinstance(exception, RequestException):
            raise ImmediateHttpResponse(refused(request, DOWN, status=503))
        if error == "cancelled":
            raise ImmediateHttpResponse(refused(request, CANCELLED))
        noted.note("sign-in-failed", None, why="forged", way=provider.sub_id)
        raise ImmediateHttpResponse(refused(request, FORGED))


class Factors(DefaultMFAAdapter):  # type: ignore[misc]  # allauth brings no types
    """Second factors."""

    error_messages = {
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": "That code did not work. Use the current code, or an unused recovery code.",
    }

    def get_totp_issuer(self) -> str:
        """Return the name under which an authenticator app lists its codes."""
        return "Firekind"

    def get_totp_label(self, user: Any) -> str:
        """Return the account name that an authenticator app shows."""
        return str(user.get_username())

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        """Return the site that a passkey belongs to."""
        return {**super().get_public_key_credential_rp_entity(), "name": "Firekind"}

    def encrypt(self, text: str) -> str:
        """Encrypt secrets so that the database alone does not reveal them."""
        from integrations.identity import secrecy

        return secrecy.seal(text)

    def decrypt(self, encrypted_text: str) -> str:
        """Decrypt what `encrypt` returned."""
        from integrations.identity import secrecy

        return secrecy.read(encrypted_text)

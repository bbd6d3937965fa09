"""Whether the mail server and the sign-in providers can be reached as configured; nothing is sent."""

from __future__ import annotations

import smtplib
from collections.abc import Iterator
from typing import Final

from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from django.conf import settings
from django.core.mail import get_connection

from integrations.check_result import CheckResult, wrong
from integrations.identity.providers import openid

WITHOUT_MAIL: Final = "Email is not set up: EMAIL_URL is not set. It's only needed without direct messages in Slack."


def mail() -> Iterator[CheckResult]:
    """Yield whether the mail server accepts our login."""
    given = settings.FIREKIND.mail
    if given is None:
        yield CheckResult(WITHOUT_MAIL)
        return
    where = f"The mail server {given.host}:{given.port}"
    try:
        _log_in()
    except smtplib.SMTPAuthenticationError:
        yield wrong(f"{where} refuses the user or the password: correct EMAIL_URL.")
    except (OSError, smtplib.SMTPException) as error:
        why = (getattr(error, "strerror", "") or type(error).__name__).rstrip(".")
        yield wrong(f"{where} cannot be used: {why}. Correct EMAIL_URL, or start it.")
    else:
        yield CheckResult(f"{where} can be used.")


def _log_in() -> None:
    server = get_connection()
    try:
        server.open()
    finally:
        server.close()


def sign_in() -> Iterator[CheckResult]:
    """Yield whether each provider describes itself as it is configured here."""
    for one in settings.FIREKIND.sign_in.providers:
        try:
            openid.described(one)
        except OAuth2Error as error:
            yield wrong(f"{one.name}: {error} Correct OIDC_ISSUER, which is {one.issuer} here.")
        except openid.failures:
            yield wrong(f"{one.name} isn't responding as a provider at {one.issuer}: start it, or correct OIDC_ISSUER.")
        else:
            yield CheckResult(f"{one.name} answers for sign-ins.")

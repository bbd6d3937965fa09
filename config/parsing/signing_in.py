"""How people sign in: providers that identify them, our own accounts, and how long a session lasts."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from config.parsing.values import SettingError, flag, require, safe, shaped, whole, without_login
from integrations.identity.providers.provider import Provider

NAMES = (
    "OIDC_ISSUER",
    "OIDC_CLIENT_ID",
    "OIDC_CLIENT_SECRET",
    "OIDC_NAME",
    "OIDC_EMAILS_VERIFIED",
    "SLACK_CLIENT_ID",
    "SLACK_CLIENT_SECRET",
    "SIGN_IN_LOCAL",
    "SIGN_IN_SECOND_FACTOR",
    "SESSION_DAYS",
    "SESSION_IDLE_HOURS",
)
SLACK_ISSUER = "https://slack.com"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInSettings:
    """The ways to sign in, and when a session ends: ``lasts`` after it began, or ``idle`` after its last use.

    ``second_factor`` is whether our own accounts need one.
    """

    providers: tuple[Provider, ...]
    local: bool
    second_factor: bool
    lasts: timedelta
    idle: timedelta


def read(given: Mapping[str, str]) -> SignInSettings:
    """Parse the settings. Raises SettingError for the first name that is missing or malformed."""
    providers = tuple(one for one in (_oidc(given), _slack(given)) if one is not None)
    local = flag(given, "SIGN_IN_LOCAL", default="on")
    if not (local or providers):
        raise SettingError("SIGN_IN_LOCAL is off and no provider is set: no one could sign in.")
    return SignInSettings(
        providers=providers,
        local=local,
        second_factor=_second_factor(given, providers),
        lasts=timedelta(days=whole(given, "SESSION_DAYS", default=14, low=1, high=90)),
        idle=timedelta(hours=whole(given, "SESSION_IDLE_HOURS", default=12, low=1, high=2160)),
    )


def _second_factor(given: Mapping[str, str], providers: tuple[Provider, ...]) -> bool:
    """Return whether our own accounts need one; with a provider they must, or a password would bypass it."""
    wanted = flag(given, "SIGN_IN_SECOND_FACTOR", default="on")
    if providers and not wanted:
        raise SettingError(
            "SIGN_IN_SECOND_FACTOR cannot be off when a provider is set: a password alone would bypass it."
        )
    return wanted


def _oidc(given: Mapping[str, str]) -> Provider | None:
    names = NAMES[:3]
    if not any(name in given for name in names):
        return None
    for name in names:
        require(given, name, because="a provider of OpenID Connect is set up in part")
    return Provider(
        key="oidc",
        name=shaped(given, "OIDC_NAME", "your company account", r".{1,60}", "at most 60 characters"),
        issuer=without_login("OIDC_ISSUER", safe(given, "OIDC_ISSUER", default="")),
        client_id=given["OIDC_CLIENT_ID"],
        vouches=flag(given, "OIDC_EMAILS_VERIFIED"),
        client_secret=given["OIDC_CLIENT_SECRET"],
    )


def _slack(given: Mapping[str, str]) -> Provider | None:
    """Slack is an OpenID Connect provider like any other; its issuer never changes."""
    names = ("SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET")
    if not any(name in given for name in names):
        return None
    for name in names:
        require(given, name, because="signing in with Slack is set up in part")
    return Provider(
        key="slack",
        name="Slack",
        issuer=SLACK_ISSUER,
        client_id=given["SLACK_CLIENT_ID"],
        client_secret=given["SLACK_CLIENT_SECRET"],
    )
